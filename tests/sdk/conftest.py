"""The server that the samples run against, and clients of it.

A session has one server of its own, in memory, on free ports. With PERDURE_TEST_TARGET=HOST:PORT the same
tests run against a server that runs already, such as the Temporal development server; tests that must kill
theirs are skipped then.

The one thing a newcomer gets wrong: `perdure dev` is started as a child process, so it does not see pytest's
`pythonpath`; it is told of this checkout's code by PYTHONPATH.
"""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import pytest_asyncio
from temporalio.client import Client

from perdure.demo.server import ServerProcess, dev_command, free_port
from tests.sdk.waiting import AT_ONCE, AT_ONCE_ELSEWHERE, GIVEN_TARGET

LIBRARY = Path(__file__).resolve().parents[2] / "lib"


@pytest.fixture(scope="session")
def checkout_on_path() -> Iterator[None]:
    """Child processes import the code of this checkout, installed or not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(LIBRARY), prepend=os.pathsep)
        yield


@pytest.fixture(scope="session")
def target(checkout_on_path: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the session's server listens, as HOST:PORT."""
    if GIVEN_TARGET:
        yield GIVEN_TARGET
        return
    port = free_port()
    log = tmp_path_factory.mktemp("server") / "server.log"
    server = ServerProcess(dev_command(port, free_port(), None), log)
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop()


@pytest_asyncio.fixture
async def client(target: str) -> AsyncIterator[Client]:
    """A client of the session's server, in the namespace `default`."""
    yield await Client.connect(target)


@pytest.fixture
def unique() -> str:
    """A name no other test uses: for task queues and workflow IDs."""
    return f"sdk-{uuid4()}"


@pytest.fixture(scope="session")
def at_once() -> int:
    """How many calls a test makes at once: fewer on a server that somebody else runs, which may be a deployment."""
    return AT_ONCE if GIVEN_TARGET is None else AT_ONCE_ELSEWHERE


@pytest.fixture
def mortal_server(checkout_on_path: None, tmp_path: Path) -> Iterator[tuple[ServerProcess, str]]:
    """A server of this test alone, on a database file, that it may kill; with its address."""
    if GIVEN_TARGET:
        pytest.skip("this test kills its server, and the one given by PERDURE_TEST_TARGET is not its own")
    port = free_port()
    server = ServerProcess(dev_command(port, free_port(), tmp_path / "perdure.db"), tmp_path / "server.log")
    server.start()
    try:
        yield server, f"127.0.0.1:{port}"
    finally:
        server.stop()
