"""A server of each test's own, on a database file, and calls to it.

With PERDURE_TEST_TARGET=HOST:PORT the tests run against a server that runs already; those that kill theirs are skipped.

The one thing a newcomer gets wrong: large runs stay in a server's memory, so a server that tests share would make the
later ones look expensive.
"""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import pytest_asyncio

from perdure.demo.server import ServerProcess, dev_command, free_port
from tests.heavy.meter import Meter
from tests.parity.environment import Environment
from tests.parity.servers import GIVEN_TARGET

LIBRARY = Path(__file__).resolve().parents[2] / "lib"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ServerProcess | None, str]]:
    """The server, unless it is somebody else's, and its address."""
    if GIVEN_TARGET:
        yield None, GIVEN_TARGET
        return
    monkeypatch.setenv("PYTHONPATH", str(LIBRARY), prepend=os.pathsep)
    port = free_port()
    command = dev_command(port, free_port(), tmp_path / "perdure.db")
    process = ServerProcess(command, tmp_path / "server.log")
    process.start()
    try:
        yield process, f"127.0.0.1:{port}"
    finally:
        process.stop()


@pytest_asyncio.fixture
async def env(server: tuple[ServerProcess | None, str]) -> AsyncIterator[Environment]:
    """Raw calls under names that no other test uses."""
    environment = Environment(server[1], f"heavy-{uuid4()}")
    yield environment
    await environment.close()


@pytest.fixture
def meter(server: tuple[ServerProcess | None, str]) -> Meter:
    """What a call costs the server."""
    process = server[0]
    return Meter(process.pid if process is not None else None)
