"""`perdure dev` as a process: what it says, how it ends, and whom it refuses."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, WorkflowServiceStub

LIBRARY = Path(__file__).resolve().parents[3] / "lib"


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "perdure", "dev", "--port", "0", "--http-port", "0", *arguments]


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A server that is ready, and the lines it said until then; killed at the end if it still runs."""
    process = subprocess.Popen(
        command(*arguments),
        env={"PYTHONPATH": str(LIBRARY), "PYTHONWARNINGS": "error"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    lines: list[str] = []
    try:
        for line in process.stdout:
            lines.append(line.rstrip())
            if line.startswith("Ready"):
                break
        else:
            pytest.fail("\n".join(lines))
        yield process, lines
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def grpc_address(lines: list[str]) -> str:
    found = re.search(r"^gRPC +(\S+)", "\n".join(lines), re.MULTILINE)
    assert found is not None
    return found.group(1)


def test_it_says_what_it_listens_on_which_namespaces_exist_and_whether_data_survives():
    with started("--namespace", "shop") as (_, lines):
        said = "\n".join(lines)
        assert re.search(r"^gRPC +127\.0\.0\.1:[1-9]\d+$", said, re.MULTILINE)
        assert re.search(r"^HTTP +http://127\.0\.0\.1:[1-9]\d+", said, re.MULTILINE)
        assert re.search(r"^Namespaces +default, shop$", said, re.MULTILINE)
        assert re.search(r"^Data +in memory", said, re.MULTILINE)


def test_its_namespaces_can_be_described_as_soon_as_it_is_ready():
    with started("--namespace", "shop") as (_, lines), grpc.insecure_channel(grpc_address(lines)) as channel:
        stub = WorkflowServiceStub(channel)
        for name in ("default", "shop"):
            answer = stub.DescribeNamespace(DescribeNamespaceRequest(namespace=name), timeout=10)
            assert answer.config.workflow_execution_retention_ttl.seconds == 86_400


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains_and_ends_it_well(number):
    with started() as (process, _):
        process.send_signal(number)
        assert process.stdout is not None
        assert process.stdout.read() == "Draining\n"
        assert process.wait(20) == 0


def test_a_namespace_survives_on_a_file_and_is_not_made_twice(tmp_path):
    database = str(tmp_path / "p.db")
    ids = []
    for _ in range(2):
        with started("--db", database) as (process, lines):
            assert database in "\n".join(lines)
            with grpc.insecure_channel(grpc_address(lines)) as channel:
                request = DescribeNamespaceRequest(namespace="default")
                ids.append(
                    WorkflowServiceStub(channel).DescribeNamespace(request, timeout=10).namespace_info.id
                )
            process.send_signal(signal.SIGKILL)
            process.wait(20)
    assert ids[0] == ids[1]


def test_a_second_server_on_the_same_file_is_refused_with_a_clear_message(tmp_path):
    database = str(tmp_path / "p.db")
    with started("--db", database):
        second = subprocess.run(
            command("--db", database),
            env={"PYTHONPATH": str(LIBRARY)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert second.returncode == 1
    assert second.stderr.startswith(f"perdure: The database {database} is in use by another process.")
    assert "Ready" not in second.stdout
    assert "Traceback" not in second.stderr


def test_a_second_server_on_the_same_port_is_refused_with_a_clear_message():
    with started() as (_, lines):
        port = grpc_address(lines).rpartition(":")[2]
        second = subprocess.run(
            [*command(), "--port", port],
            env={"PYTHONPATH": str(LIBRARY)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert second.returncode == 1
    said = second.stderr.splitlines()
    assert len(said) == 1, said
    assert said[0].startswith(f"perdure: cannot listen on 127.0.0.1:{port}: ")
    assert said[0].endswith("--port takes another port")
