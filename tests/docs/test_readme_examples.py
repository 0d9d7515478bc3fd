"""The README's first examples, run as a reader would run them, against a server of this checkout.

What does not live here: the examples; they are taken from README.md, and only the ports are others.
The one thing a newcomer gets wrong: the examples are one story. The shell block follows the Python block.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure.demo.server import ServerProcess, dev_command, free_port
from tests.architecture.source_tree import ROOT

SECONDS_MAX = 60
# The SDK's native threads may touch the interpreter while it ends, whatever server they talked to; it then aborts after
# everything is done (temporalio/sdk-python, issue 300).
ENDING = "Python runtime state: finalizing"


@pytest.fixture
def ports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The README's ports, each with the one that our server listens on instead."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "lib"))
    grpc, http = free_port(), free_port()
    server = ServerProcess(dev_command(grpc, http, tmp_path / "perdure.db"), tmp_path / "server.log")
    server.start()
    try:
        yield {":7233": f":{grpc}", ":8233": f":{http}"}
    finally:
        server.stop()


def _block(language: str, beginning: str, ports: dict[str, str]) -> str:
    """The README's block of that language that contains the words, with our ports."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (found,) = [block for block in blocks if beginning in block]
    for theirs, ours in ports.items():
        found = found.replace(theirs, ours)
    return found


def _run(command: list[str], *, may_abort: bool = False, **options: object) -> str:
    """What the command says. `may_abort`: after that it may die of its own threads."""
    run = subprocess.run(  # type: ignore[call-overload]
        command, capture_output=True, text=True, check=False, timeout=SECONDS_MAX, **options
    )
    aborted = may_abort and run.returncode == -signal.SIGABRT and ENDING in run.stderr
    assert run.returncode == 0 or aborted, run.stdout + run.stderr
    return str(run.stdout)


def test_the_python_example_says_what_the_readme_says(ports: dict[str, str], tmp_path: Path) -> None:
    program = tmp_path / "hello.py"
    program.write_text(_block("python", "class Greeting", ports), encoding="utf-8")
    assert _run([sys.executable, str(program)], may_abort=True) == _block("text", "approved:", ports)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_curl_example_starts_signals_and_reads_a_workflow(ports: dict[str, str]) -> None:
    shown = _run(["bash", "-euc", _block("sh", "curl", ports)])
    assert '"started": true' in shown
    assert "EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED" in shown


def test_the_command_line_example_finishes_a_workflow(ports: dict[str, str]) -> None:
    """The command line reads the server's address from its environment, so that the example need not name it."""
    if not Path(sys.executable).with_name("temporal").exists() and shutil.which("temporal") is None:
        pytest.skip("the temporal command line is not installed")
    (address,) = [ours for theirs, ours in ports.items() if theirs == ":7233"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "TEMPORAL_ADDRESS": f"127.0.0.1{address}"}
    shown = _run(["bash", "-euc", _block("sh", "temporal workflow start", ports)], env=environment)
    assert "WorkflowExecutionSignaled" in shown
    assert "WorkflowExecutionTerminated" in shown
