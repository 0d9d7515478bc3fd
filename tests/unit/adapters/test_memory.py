"""Queries in flight and pollers, kept in memory."""

import pytest

from durable_core.adapters.decorators import ManualClock
from durable_core.adapters.memory import MemoryPollers, MemoryQueries
from durable_core.adapters.memory.pollers import (
    FORGET_AFTER_NS,
    IDENTITIES_BEFORE_SWEEP,
    QUEUES_BEFORE_SWEEP,
)
from durable_core.model.ids import QueueKey, QueueKind, RunKey
from durable_core.ports.queries import PendingQuery, QueryAnswer
from durable_core.ports.task_queues import Poller

RUN = RunKey("namespace", "order-17", "run-1")
OTHER = RunKey("namespace", "order-18", "run-2")
QUEUE = QueueKey("namespace", "orders", QueueKind.WORKFLOW)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_000)


@pytest.fixture
def queries(clock: ManualClock) -> MemoryQueries:
    return MemoryQueries(clock)


def query(name: str, run: RunKey = RUN, expires_at: int = 2_000) -> PendingQuery:
    return PendingQuery(name, run, b"request", expires_at)


def test_a_query_is_pending_until_it_is_answered(queries: MemoryQueries) -> None:
    queries.put(query("a"))
    assert queries.get("a") == query("a")
    assert list(queries.pending(RUN)) == [query("a")]
    assert queries.take_answer("a") is None
    assert queries.answer("a", QueryAnswer(b"42"))
    assert queries.get("a") is None
    assert list(queries.pending(RUN)) == []


def test_an_answer_is_taken_once(queries: MemoryQueries) -> None:
    queries.put(query("a"))
    queries.answer("a", QueryAnswer(b"42"))
    assert queries.take_answer("a") == QueryAnswer(b"42")
    assert queries.take_answer("a") is None


def test_the_first_answer_counts(queries: MemoryQueries) -> None:
    queries.put(query("a"))
    assert queries.answer("a", QueryAnswer(b"first"))
    assert not queries.answer("a", QueryAnswer(lost="second"))
    assert queries.take_answer("a") == QueryAnswer(b"first")


def test_an_answer_that_nobody_waits_for_is_refused(queries: MemoryQueries, clock: ManualClock) -> None:
    assert not queries.answer("unknown", QueryAnswer(b"42"))
    queries.put(query("removed"))
    queries.remove("removed")
    assert not queries.answer("removed", QueryAnswer(b"42"))
    queries.put(query("expired"))
    clock.set(2_000)
    assert not queries.answer("expired", QueryAnswer(b"42"))


def test_pending_queries_of_a_run_come_oldest_first_and_without_those_of_others(
    queries: MemoryQueries,
) -> None:
    for name, run in (("c", RUN), ("x", OTHER), ("a", RUN), ("b", RUN)):
        queries.put(query(name, run))
    queries.remove("a")
    assert [one.query_id for one in queries.pending(RUN)] == ["c", "b"]
    assert [one.query_id for one in queries.pending(OTHER)] == ["x"]


def test_a_query_expires_at_its_time(queries: MemoryQueries, clock: ManualClock) -> None:
    queries.put(query("a"))
    queries.put(query("answered"))
    queries.answer("answered", QueryAnswer(b"42"))
    clock.set(1_999)
    assert queries.get("a") is not None
    clock.set(2_000)
    assert queries.get("a") is None
    assert list(queries.pending(RUN)) == []
    assert queries.take_answer("answered") is None


def test_what_nobody_takes_leaves_memory_after_its_time(queries: MemoryQueries, clock: ManualClock) -> None:
    for number in range(100):
        queries.put(query(str(number), RunKey("n", str(number), "r")))
        queries.answer(str(number), QueryAnswer(b"42")) if number % 2 else None
    clock.set(3_000)
    queries.put(query("late", expires_at=4_000))
    assert list(queries._in_flight) == ["late"]
    assert list(queries._unanswered) == [RUN]
    assert len(queries._expiries) == 1


def test_the_last_poll_of_a_queue_counts() -> None:
    pollers = MemoryPollers()
    assert pollers.last_seen(QUEUE) == 0
    pollers.seen(QUEUE, "worker-1", 10)
    pollers.seen(QUEUE, "worker-2", 20)
    assert pollers.last_seen(QUEUE) == 20
    pollers.forget(QUEUE)
    pollers.forget(QUEUE)
    assert pollers.last_seen(QUEUE) == 0


def test_pollers_are_shown_by_identity_the_latest_first() -> None:
    pollers = MemoryPollers()
    assert pollers.pollers(QUEUE, 0) == []
    for identity, at in (("one", 10), ("two", 20), ("three", 30), ("one", 40)):
        pollers.seen(QUEUE, identity, at, f"build at {at}")
    assert [one.identity for one in pollers.pollers(QUEUE, 0)] == ["one", "three", "two"]
    assert pollers.pollers(QUEUE, 30) == [
        Poller("one", 40, "build at 40"),
        Poller("three", 30, "build at 30"),
    ]
    pollers.forget(QUEUE)
    assert [one.identity for one in pollers.pollers(QUEUE, 40)] == ["one"]


def test_pollers_that_are_gone_are_forgotten_in_time() -> None:
    pollers = MemoryPollers()
    for number in range(3 * IDENTITIES_BEFORE_SWEEP):
        pollers.seen(QUEUE, f"worker-{number}", number * FORGET_AFTER_NS // 10)
    assert len(pollers.pollers(QUEUE, 0)) < 2 * IDENTITIES_BEFORE_SWEEP


def test_queues_that_nobody_polls_any_more_are_forgotten_in_time() -> None:
    pollers = MemoryPollers()
    for number in range(3 * QUEUES_BEFORE_SWEEP):
        pollers.seen(
            QueueKey("n", f"sticky-{number}", QueueKind.WORKFLOW), "w", number * FORGET_AFTER_NS // 100
        )
    assert len(pollers._queues) < 2 * QUEUES_BEFORE_SWEEP
