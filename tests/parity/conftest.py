"""The pair of servers that the parity suite compares.

Here lives the session's fixture only. With PARITY_SELF=1 the reference server is compared with a second one
of its own kind, which proves that the scenarios are deterministic. With PERDURE_TEST_TARGET=HOST:PORT it is compared
with a server that runs already, such as a bridge before a deployment; that one must be fresh. Newcomers forget that a
session is one pytest-xdist worker: each has its own pair, but for a given target.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from .servers import GIVEN_TARGET, GivenServer, Server, start_oracle, start_ours


@pytest.fixture(scope="session")
def servers() -> Iterator[tuple[Server, Server | GivenServer]]:
    """The reference server, and the one that must equal it."""
    compare_with_itself = os.environ.get("PARITY_SELF") == "1"
    oracle = start_oracle()
    try:
        other = _other(compare_with_itself)
        try:
            yield oracle, other
        finally:
            other.stop()
    finally:
        oracle.stop()


def _other(compare_with_itself: bool) -> Server | GivenServer:
    if GIVEN_TARGET:
        return GivenServer("target", GIVEN_TARGET)
    return start_oracle("temporal-2") if compare_with_itself else start_ours()
