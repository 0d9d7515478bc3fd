"""Hints that something may have happened, for whoever waits at the edge. Losing one costs time, never correctness."""

from typing import NamedTuple, Protocol

from durable_core.model.ids import QueueKey, RunKey


class QueryTopic(NamedTuple):
    query_id: str


class ClosedTopic(NamedTuple):
    """The end of a run, for those who wait for nothing else of it."""

    run_id: str


Topic = QueueKey | RunKey | QueryTopic | ClosedTopic


class Notifications(Protocol):
    def publish(self, topic: Topic) -> None:
        """Something happened: wake all who wait for a run or a query; wake one who waits for a queue."""
