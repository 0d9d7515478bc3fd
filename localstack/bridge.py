"""A bridge before a deployment on the local AWS, as a child process: what SDKs and tests talk to.

What does not live here: the bridge itself (`perdure.bridge`). A newcomer's trap: it says that it is ready before the
endpoint has answered anything, and the first call of each function is slow.
"""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from localstack.deployment import ROOT
from localstack.local_aws import POLL_SECONDS, READY_SECONDS_MAX, STOP_SECONDS_MAX, LocalAws, NotReady

_ADDRESS = re.compile(r"^gRPC\s+(\S+)", re.MULTILINE)
_READY = re.compile(r"^Ready", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Bridge:
    """`address` is HOST:PORT, for gRPC."""

    address: str
    process: "subprocess.Popen[bytes]"
    log: Path


@contextmanager
def bridge(aws: LocalAws, url: str, folder: Path, *arguments: str) -> Iterator[Bridge]:
    """A bridge on a free port that lives as long as the context. Raises `NotReady`."""
    log = folder / "bridge.log"
    command = [sys.executable, "-m", "perdure", "bridge", "--port", "0", "--endpoint", url, *arguments]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=aws.environment() | {"PYTHONPATH": str(ROOT / "lib")},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield Bridge(_address(process, log), process, log)
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _address(process: "subprocess.Popen[bytes]", log: Path) -> str:
    deadline = time.monotonic() + READY_SECONDS_MAX
    while time.monotonic() < deadline and process.poll() is None:
        said = log.read_text(encoding="utf-8", errors="replace")
        address = _ADDRESS.search(said)
        if address is not None and _READY.search(said):
            return address.group(1)
        time.sleep(POLL_SECONDS)
    raise NotReady(f"the bridge is not ready:\n{log.read_text(encoding='utf-8', errors='replace')}")
