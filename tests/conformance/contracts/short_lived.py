"""`Queries` and `Pollers`: what lives for seconds, and is lost without harm."""

import random
from dataclasses import dataclass

from durable_core.adapters.decorators import ManualClock
from durable_core.model.ids import QueueKey, QueueKind
from durable_core.model.times import MINUTE, SECOND
from durable_core.ports.queries import PendingQuery, Queries, QueryAnswer
from durable_core.ports.task_queues import Pollers

from ..writing import ORDERS, OTHER, RUN

LARGE = 2 * 1024 * 1024
SOON = 30 * SECOND
LONGER_THAN_ANY_CACHE = 5 * SECOND


@dataclass(frozen=True)
class ShortLived:
    """Two processes' views of the same, and the clock of both."""

    queries: Queries
    others_queries: Queries
    pollers: Pollers
    others_pollers: Pollers
    clock: ManualClock

    def query(self, name: str, run: object = RUN, request: bytes = b"request") -> PendingQuery:
        assert isinstance(run, type(RUN))
        return PendingQuery(name, run, request, self.clock.now() + SOON)


class QueriesContract:
    def test_a_query_is_pending_until_it_is_answered(self, lived: ShortLived) -> None:
        asked = lived.query("a")
        lived.queries.put(asked)
        for view in (lived.queries, lived.others_queries):
            assert view.get("a") == asked
            assert list(view.pending(RUN)) == [asked]
            assert view.take_answer("a") is None
        assert lived.others_queries.answer("a", QueryAnswer(b"42"))
        for view in (lived.queries, lived.others_queries):
            assert view.get("a") is None
            assert list(view.pending(RUN)) == []

    def test_an_answer_is_taken_once(self, lived: ShortLived) -> None:
        lived.queries.put(lived.query("a"))
        lived.others_queries.answer("a", QueryAnswer(b"42"))
        assert lived.queries.take_answer("a") == QueryAnswer(b"42")
        assert lived.queries.take_answer("a") is None
        assert lived.others_queries.take_answer("a") is None

    def test_the_first_answer_counts(self, lived: ShortLived) -> None:
        lived.queries.put(lived.query("a"))
        assert lived.queries.answer("a", QueryAnswer(b"first"))
        assert not lived.others_queries.answer("a", QueryAnswer(b"second"))
        assert not lived.others_queries.answer("a", QueryAnswer(lost="third"))
        assert lived.queries.take_answer("a") == QueryAnswer(b"first")

    def test_a_lost_query_says_why(self, lived: ShortLived) -> None:
        lived.queries.put(lived.query("a"))
        assert lived.others_queries.answer("a", QueryAnswer(lost="the worker went"))
        assert lived.queries.take_answer("a") == QueryAnswer(b"", "the worker went")

    def test_an_answer_that_nobody_waits_for_is_refused(self, lived: ShortLived) -> None:
        assert not lived.queries.answer("unknown", QueryAnswer(b"42"))
        lived.queries.put(lived.query("removed"))
        lived.queries.remove("removed")
        lived.queries.remove("removed")
        assert not lived.queries.answer("removed", QueryAnswer(b"42"))
        assert list(lived.queries.pending(RUN)) == []

    def test_pending_queries_of_a_run_come_oldest_first(self, lived: ShortLived) -> None:
        asked = []
        for name in ("z", "b", "y"):
            asked.append(lived.query(name))
            lived.queries.put(asked[-1])
            lived.clock.advance(1)
        lived.queries.put(lived.query("other", OTHER))
        assert list(lived.others_queries.pending(RUN)) == asked
        lived.queries.answer("b", QueryAnswer(b"42"))
        assert [query.query_id for query in lived.others_queries.pending(RUN)] == ["z", "y"]

    def test_a_query_is_over_at_its_time(self, lived: ShortLived) -> None:
        lived.queries.put(lived.query("a"))
        lived.clock.advance(SOON - 1)
        assert lived.queries.get("a") is not None
        lived.clock.advance(1)
        assert lived.queries.get("a") is None
        assert list(lived.queries.pending(RUN)) == []
        assert not lived.queries.answer("a", QueryAnswer(b"42"))
        assert lived.queries.take_answer("a") is None

    def test_a_request_and_an_answer_may_be_large(self, lived: ShortLived) -> None:
        large = random.Random(1).randbytes(LARGE)
        lived.queries.put(lived.query("a", request=large))
        (asked,) = lived.others_queries.pending(RUN)
        assert asked.request == large
        assert lived.others_queries.answer("a", QueryAnswer(large[::-1]))
        assert lived.queries.take_answer("a") == QueryAnswer(large[::-1])


class PollersContract:
    def test_nobody_polls_at_first(self, lived: ShortLived) -> None:
        assert lived.pollers.last_seen(ORDERS) == 0
        assert list(lived.pollers.pollers(ORDERS, 0)) == []

    def test_the_last_poll_of_a_queue_counts(self, lived: ShortLived) -> None:
        for identity in ("a", "b", "a"):
            lived.clock.advance(LONGER_THAN_ANY_CACHE)
            lived.pollers.seen(ORDERS, identity, lived.clock.now())
            assert lived.pollers.last_seen(ORDERS) == lived.clock.now()
        lived.clock.advance(LONGER_THAN_ANY_CACHE)
        assert lived.others_pollers.last_seen(ORDERS) == lived.clock.now() - LONGER_THAN_ANY_CACHE
        assert lived.others_pollers.last_seen(QueueKey("namespace", "orders", QueueKind.ACTIVITY)) == 0

    def test_a_poll_may_promise_to_last(self, lived: ShortLived) -> None:
        until = lived.clock.now() + MINUTE
        lived.pollers.seen(ORDERS, "a", until)
        lived.clock.advance(LONGER_THAN_ANY_CACHE)
        lived.others_pollers.seen(ORDERS, "b", lived.clock.now())
        assert lived.pollers.last_seen(ORDERS) == until

    def test_a_queue_that_nobody_polls_any_longer_is_forgotten_until_the_next_poll(
        self, lived: ShortLived
    ) -> None:
        lived.pollers.seen(ORDERS, "a", lived.clock.now())
        lived.others_pollers.forget(ORDERS)
        lived.clock.advance(LONGER_THAN_ANY_CACHE)
        assert lived.pollers.last_seen(ORDERS) == 0
        assert lived.others_pollers.last_seen(ORDERS) == 0
        lived.pollers.seen(ORDERS, "a", lived.clock.now())
        assert lived.others_pollers.last_seen(ORDERS) == lived.clock.now()

    def test_pollers_are_shown_by_identity_the_latest_first(self, lived: ShortLived) -> None:
        began = lived.clock.now()
        for identity, build_id in (("a", ""), ("b", "build-7"), ("c", ""), ("a", "build-8")):
            lived.clock.advance(LONGER_THAN_ANY_CACHE)
            lived.pollers.seen(ORDERS, identity, lived.clock.now(), build_id)
        shown = [(one.identity, one.build_id) for one in lived.others_pollers.pollers(ORDERS, began)]
        assert shown == [("a", "build-8"), ("c", ""), ("b", "build-7")]
        recent = lived.others_pollers.pollers(ORDERS, lived.clock.now() - LONGER_THAN_ANY_CACHE)
        assert [one.identity for one in recent] == ["a", "c"]
