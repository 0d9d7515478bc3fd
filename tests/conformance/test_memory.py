"""What one process keeps in memory against the contracts."""

import pytest

from durable_core.adapters.decorators import ManualClock
from durable_core.adapters.memory import MemoryPollers, MemoryQueries

from .contracts.short_lived import PollersContract, QueriesContract, ShortLived


@pytest.fixture
def lived() -> ShortLived:
    clock = ManualClock(1_700_000_000 * 1_000_000_000)
    queries, pollers = MemoryQueries(clock), MemoryPollers()
    return ShortLived(queries, queries, pollers, pollers, clock)


class TestQueries(QueriesContract): ...


class TestPollers(PollersContract): ...
