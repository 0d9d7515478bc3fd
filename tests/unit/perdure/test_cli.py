"""The command line: what it accepts, what it refuses, and that asking for help loads nothing."""

import subprocess
import sys

import pytest

from perdure import cli
from perdure.dev.server import ServerOptions


@pytest.fixture
def started(monkeypatch):
    """The options that `perdure dev` would start with."""
    options: list[ServerOptions] = []

    def run(given):
        options.append(given)
        return 0

    monkeypatch.setattr("perdure.dev.main.run", run)
    return options


def test_dev_has_the_defaults_of_the_temporal_development_server(started):
    assert cli.main(["dev"]) == 0
    assert started == [ServerOptions("127.0.0.1", 7233, 8233, None, ("default",), "warning")]


def test_dev_takes_every_option(started, tmp_path):
    database = tmp_path / "p.db"
    arguments = [
        "--ip",
        "::1",
        "--port",
        "1",
        "--http-port",
        "2",
        "--db",
        str(database),
        "--log-level",
        "info",
    ]
    cli.main(["dev", *arguments, "--namespace", "a", "--namespace", "b", "--namespace", "default"])
    assert started == [ServerOptions("::1", 1, 2, database, ("default", "a", "b"), "info")]


@pytest.mark.parametrize("arguments", [["dev", "--port", "70000"], ["dev", "--port", "x"], ["nope"]])
def test_what_makes_no_sense_is_refused_with_two(arguments, capsys):
    with pytest.raises(SystemExit) as raised:
        cli.main(arguments)
    assert raised.value.code == 2
    assert "usage: perdure" in capsys.readouterr().err


def test_without_a_command_the_help_is_shown(capsys):
    assert cli.main([]) == 2
    assert "demo" in capsys.readouterr().out


def test_the_version_is_told(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("perdure")


def test_help_loads_neither_protocol_nor_engine():
    program = (
        "import sys\nfrom perdure import cli\n"
        "try:\n    cli.main(['dev', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('grpc', 'temporalio', 'google.protobuf', 'asyncio') if name in sys.modules])"
    )
    environment = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"
