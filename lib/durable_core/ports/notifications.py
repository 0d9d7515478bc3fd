"""Hints that something may have happened, for whoever waits at the edge. Losing one costs time, never correctness."""

from dataclasses import dataclass
from typing import Protocol

from durable_core.model.ids import QueueKey, RunKey


@dataclass(frozen=True, slots=True)
class QueryTopic:
    query_id: str


Topic = QueueKey | RunKey | QueryTopic


class Notifications(Protocol):
    def publish(self, topic: Topic) -> None:
        """Something happened: wake all who wait for a run or a query; wake one who waits for a queue."""
