"""The embedded server as a child process that can be killed and started again on the same file.

Nothing of the server's own code is imported: it is started by its command line, as a person would, so that a
SIGKILL takes a whole process with everything it held in memory.

The one thing a newcomer gets wrong: the process has a session of its own. Ctrl-C in a terminal goes to every
process of the foreground group; without it the server would die of the interrupt before its owner could stop it.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

READY_SECONDS_MAX = 20.0
STOP_SECONDS_MAX = 10.0
_READY_CHECK_SECONDS = 0.02
_LOG_TAIL_LINES = 25
_FIRST_PORT = 10_240
_PORTS = 22_000
# Processes that run side by side, as those of parallel tests do, begin far from each other.
_PORTS_PER_PROCESS = 251
_FIRST_NUMBER = os.getpid() * _PORTS_PER_PROCESS
_numbers = iter(range(_PORTS))


class ServerError(Exception):
    """The server did not start; the message carries the end of its log."""


def free_port() -> int:
    """A port of the loopback interface that nobody uses at this moment, and that this process did not get before.

    It lies below the ports that systems give to outgoing connections (from 32768 on Linux, from 49152 elsewhere).
    One of those could be taken by any connection while its server is down, even by the one that asks whether the
    server is up again: TCP lets a socket connect to itself.
    """
    for number in _numbers:
        port = _FIRST_PORT + (_FIRST_NUMBER + number) % _PORTS
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise ServerError(f"no port from {_FIRST_PORT} to {_FIRST_PORT + _PORTS - 1} is free")


def dev_command(port: int, http_port: int, database: Path | None) -> list[str]:
    """The command line of `perdure dev` with this interpreter; without a database its data lives in memory."""
    command = [sys.executable, "-m", "perdure", "dev", "--port", str(port), "--http-port", str(http_port)]
    return command if database is None else [*command, "--db", str(database)]


class ServerProcess:
    """One server that may run several times: what it says goes to one log, across all its lives."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self._command = list(command)
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process ID of the running server."""
        if self._process is None:
            raise ServerError("the server is not running")
        return self._process.pid

    def start(self) -> float:
        """Start and wait until the server has said that it is ready; return the seconds that took."""
        if self._process is not None:
            raise ServerError("the server is running already")
        began = time.monotonic()
        said_before = self._log.stat().st_size if self._log.exists() else 0
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        while not self._is_ready(said_before):
            if self._process.poll() is not None:
                self._process = None
                raise ServerError(f"the server ended before it was ready:\n{self.log_tail()}")
            if time.monotonic() - began > READY_SECONDS_MAX:
                self.kill()
                raise ServerError(
                    f"the server was not ready within {READY_SECONDS_MAX:.0f} s:\n{self.log_tail()}"
                )
            time.sleep(_READY_CHECK_SECONDS)
        return time.monotonic() - began

    def kill(self) -> None:
        """End the server with SIGKILL: it gets no chance to write anything."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ask the server to end, and insist when it does not. A server that does not run stays so."""
        self._end(signal.SIGTERM)

    def log_tail(self) -> str:
        """The last lines of what the server said."""
        if not self._log.exists():
            return ""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-_LOG_TAIL_LINES:])

    def _is_ready(self, said_before: int) -> bool:
        with self._log.open("rb") as log:
            log.seek(said_before)
            return any(line.startswith(b"Ready") and line.endswith(b"\n") for line in log)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
