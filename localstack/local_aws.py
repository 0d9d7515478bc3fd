"""The local AWS: what addresses it, and MiniStack, which is one in a Python package.

What does not live here: deploying (`deployment`), and LocalStack, which runs in Docker (`compose.yaml`).
A newcomer's trap: MiniStack runs functions on its own interpreter and with its own packages in reach, so it is started
from the environment that the project is installed in, and the bundle is built for that interpreter.
"""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

ACCOUNT = "000000000000"
REGION = "us-east-1"
HEALTH_PATH = "/_localstack/health"
READY_SECONDS_MAX = 60.0
STOP_SECONDS_MAX = 15.0
POLL_SECONDS = 0.1


# What this process started. It may outlive us, and Python calls a forgotten process that still runs a mistake.
_children: dict[int, "subprocess.Popen[bytes]"] = {}


class NotReady(Exception):
    """The local AWS does not answer, or ended. Says where its log is."""


@dataclass(frozen=True, slots=True)
class LocalAws:
    """A local AWS by its address; any that LocalStack's tools work with."""

    url: str

    def environment(self) -> dict[str, str]:
        """This process' environment with what sends every AWS client, SDK and command to it."""
        return {
            **os.environ,
            "AWS_ENDPOINT_URL": self.url,
            # The CDK's command addresses buckets by path only when S3's address is given by itself.
            "AWS_ENDPOINT_URL_S3": self.url,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
        }

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(self.url + HEALTH_PATH, timeout=5) as response:
                return bool(response.status == 200)
        except (OSError, urllib.error.URLError):
            return False


@dataclass(frozen=True, slots=True)
class MiniStack:
    """MiniStack on a port of the loopback. `folder` holds its log, its process ID and its scratch files."""

    folder: Path
    port: int

    @property
    def aws(self) -> LocalAws:
        return LocalAws(f"http://127.0.0.1:{self.port}")

    @property
    def _log(self) -> Path:
        return self.folder / "ministack.log"

    @property
    def _process_id(self) -> Path:
        return self.folder / "ministack.pid"

    def start(self) -> LocalAws:
        """Start it unless it answers already. It outlives this process. Raises `NotReady`."""
        if self.aws.answers():
            return self.aws
        scratch = self.folder / "tmp"
        scratch.mkdir(parents=True, exist_ok=True)
        environment = {
            **os.environ,
            "GATEWAY_PORT": str(self.port),
            "BIND_HOST": "127.0.0.1",
            # It would listen on ports of its own, and two of them would be in each other's way.
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
            # A function's process that has ended takes seconds to start again on a busy machine.
            "LAMBDA_WARM_TTL_SECONDS": "3600",
            "LOG_LEVEL": "WARNING",
            "TMPDIR": str(scratch.resolve()),
        }
        # Functions find the code that is deployed, not the code of this checkout.
        environment.pop("PYTHONPATH", None)
        with self._log.open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("gathering.py"))],
                cwd=scratch,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        _children[process.pid] = process
        self._process_id.write_text(str(process.pid), encoding="ascii")
        self._await_ready(process)
        return self.aws

    def stop(self) -> bool:
        """Stop the one that was started in this folder, with all its functions; False when there is none."""
        if not self._process_id.is_file():
            return False
        process_id = int(self._process_id.read_text(encoding="ascii"))
        self._process_id.unlink()
        if not _signal(process_id, signal.SIGTERM):
            return False
        deadline = time.monotonic() + STOP_SECONDS_MAX
        while _runs(process_id) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        _signal(process_id, signal.SIGKILL)
        return True

    def _await_ready(self, process: "subprocess.Popen[bytes]") -> None:
        deadline = time.monotonic() + READY_SECONDS_MAX
        while not self.aws.answers():
            if process.poll() is not None:
                raise NotReady(f"MiniStack ended with {process.returncode}; see {self._log}")
            if time.monotonic() > deadline:
                raise NotReady(f"MiniStack does not answer on port {self.port}; see {self._log}")
            time.sleep(POLL_SECONDS)


def _runs(process_id: int) -> bool:
    """A child that has ended stays known to the system until its parent has asked about it."""
    child = _children.get(process_id)
    return _signal(process_id, 0) if child is None else child.poll() is None


def _signal(process_id: int, number: int) -> bool:
    """Send to the whole group, for functions run in processes of their own; False when it is gone."""
    try:
        os.killpg(process_id, number)
    except ProcessLookupError:
        return False
    return True
