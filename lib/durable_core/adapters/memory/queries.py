"""Queries in flight: the `Queries` port.

A query leaves by being taken, removed or expired, whichever comes first; expired ones are swept whenever a new one
comes, so nothing needs a timer.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from durable_core.model.ids import RunKey
from durable_core.ports.clock import Clock
from durable_core.ports.queries import PendingQuery, QueryAnswer


@dataclass(slots=True)
class _InFlight:
    query: PendingQuery
    answer: QueryAnswer | None = None


class MemoryQueries:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._in_flight: dict[str, _InFlight] = {}
        # The values are the unanswered queries of a run in the order they came.
        self._unanswered: dict[RunKey, dict[str, PendingQuery]] = {}
        self._expiries: list[tuple[int, str]] = []

    def put(self, query: PendingQuery) -> None:
        self._sweep()
        self._in_flight[query.query_id] = _InFlight(query)
        self._unanswered.setdefault(query.run, {})[query.query_id] = query
        heapq.heappush(self._expiries, (query.expires_at, query.query_id))

    def get(self, query_id: str) -> PendingQuery | None:
        found = self._find(query_id)
        return None if found is None or found.answer is not None else found.query

    def pending(self, run: RunKey) -> Sequence[PendingQuery]:
        now = self._clock.now()
        return [query for query in self._unanswered.get(run, {}).values() if query.expires_at > now]

    def answer(self, query_id: str, answer: QueryAnswer) -> bool:
        found = self._find(query_id)
        if found is None or found.answer is not None:
            return False
        found.answer = answer
        self._drop_unanswered(found.query)
        return True

    def take_answer(self, query_id: str) -> QueryAnswer | None:
        found = self._find(query_id)
        if found is None or found.answer is None:
            return None
        self.remove(query_id)
        return found.answer

    def remove(self, query_id: str) -> None:
        found = self._in_flight.pop(query_id, None)
        if found is not None and found.answer is None:
            self._drop_unanswered(found.query)

    def _find(self, query_id: str) -> _InFlight | None:
        found = self._in_flight.get(query_id)
        return None if found is None or found.query.expires_at <= self._clock.now() else found

    def _drop_unanswered(self, query: PendingQuery) -> None:
        unanswered = self._unanswered[query.run]
        del unanswered[query.query_id]
        if not unanswered:
            del self._unanswered[query.run]

    def _sweep(self) -> None:
        now = self._clock.now()
        while self._expiries and self._expiries[0][0] <= now:
            _, query_id = heapq.heappop(self._expiries)
            self.remove(query_id)
