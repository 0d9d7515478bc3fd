"""One server under measurement, with its worker and its client. It runs a load and says what it cost.

What does not live here: which loads are run (parts.py) and how numbers become a table (report.py).
A newcomer's mistake: to compare numbers of two runs. Only numbers taken in turns, in one run, share the noise.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from temporalio.client import Client

from tests.benchmarks.load import Load, Timing, run_load
from tests.benchmarks.servers import STOP_TIMEOUT_SECONDS, Server, ServerFailed, ServerKind, Usage, usage_of

TASK_QUEUE = "benchmark"
REPOSITORY_ROOT = Path(__file__).resolve().parents[2]
# What a server does after it has answered (visibility, clean-up) belongs to the workflow that caused it.
SETTLE_SECONDS = 0.5


@dataclass(frozen=True)
class Measurement:
    """What one load cost: time, and the processor time and memory of the server and of the worker."""

    timing: Timing
    server_cpu_seconds: float
    worker_cpu_seconds: float
    resident_bytes: int
    # The time over which processor time was counted, which includes the settling.
    counted_seconds: float


@dataclass
class Bench:
    """A running server with a worker process and a client of its own."""

    server: Server
    worker: subprocess.Popen[bytes]
    client: Client

    async def measure(self, load: Load) -> Measurement:
        """Run a load and return what it took."""
        begun = time.perf_counter()
        server_before, worker_before = self._usages()
        timing = await run_load(self.client, TASK_QUEUE, load)
        await asyncio.sleep(SETTLE_SECONDS)
        server_after, worker_after = self._usages()
        return Measurement(
            timing,
            server_after.cpu_seconds - server_before.cpu_seconds,
            worker_after.cpu_seconds - worker_before.cpu_seconds,
            server_after.resident_bytes,
            time.perf_counter() - begun,
        )

    async def idle_cpu(self, seconds: float) -> float:
        """Return the server's share of one core while its worker polls and nothing runs."""
        begun, before = time.perf_counter(), self.server.usage()
        await asyncio.sleep(seconds)
        used = self.server.usage().cpu_seconds - before.cpu_seconds
        return used / (time.perf_counter() - begun)

    def _usages(self) -> tuple[Usage, Usage]:
        if self.worker.poll() is not None:
            raise ServerFailed(f"the worker for {self.server.kind.value} ended with {self.worker.returncode}")
        return self.server.usage(), usage_of(self.worker.pid)


@asynccontextmanager
async def running(kind: ServerKind, *, on_file: bool, sandbox: bool) -> AsyncIterator[Bench]:
    """Start a server, its worker and a client; end them, and remove their files, on the way out."""
    directory = Path(tempfile.mkdtemp(prefix=f"bench-{kind.value}-"))
    server: Server | None = None
    worker: subprocess.Popen[bytes] | None = None
    try:
        database = directory / "server.db" if on_file else None
        server = Server.start(kind, directory / "server.log", database=database)
        await asyncio.to_thread(server.wait_ready, namespace="default")
        worker = await asyncio.to_thread(_start_worker, server.address, sandbox)
        yield Bench(server, worker, await Client.connect(server.address))
    finally:
        if worker is not None:
            _stop_worker(worker)
        if server is not None:
            server.stop()
        shutil.rmtree(directory, ignore_errors=True)


def seconds_to_ready(kind: ServerKind, *, on_file: bool) -> float:
    """Start a server, wait for its first answered call, end it, and return how long that took."""
    with tempfile.TemporaryDirectory(prefix=f"bench-{kind.value}-") as name:
        directory = Path(name)
        server = Server.start(
            kind, directory / "server.log", database=directory / "s.db" if on_file else None
        )
        try:
            return server.wait_ready()
        finally:
            server.stop()


def _start_worker(address: str, sandbox: bool) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.benchmarks.worker", address, TASK_QUEUE]
    if sandbox:
        command.append("--sandbox")
    worker = subprocess.Popen(command, cwd=REPOSITORY_ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert worker.stdout is not None
    if worker.stdout.readline().strip() != b"ready":
        _stop_worker(worker)
        raise ServerFailed(f"the worker for {address} did not start")
    return worker


def _stop_worker(worker: subprocess.Popen[bytes]) -> None:
    worker.terminate()
    try:
        worker.wait(STOP_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()
    if worker.stdout is not None:
        worker.stdout.close()
