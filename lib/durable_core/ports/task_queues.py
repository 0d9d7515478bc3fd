"""Queues between the services and the workers. Delivery is at least once; the claim decides."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from durable_core.model.ids import QueueKey
from durable_core.model.tasks import Task


@dataclass(frozen=True, slots=True)
class Received:
    """A task with the receipt that deletes it."""

    task: Task
    receipt: str


class TaskQueues(Protocol):
    def send(self, tasks: Sequence[Task]) -> None:
        """Make tasks receivable. Sending one twice (same shard's task ID) within minutes is the same as once."""

    def receive(self, queue: QueueKey) -> Received | None:
        """The next task, at once or not at all. It comes again if it is not deleted within the visibility time."""

    def delete(self, received: Received) -> None:
        """The task is done with (claimed, or found stale)."""

    def backlog(self, queue: QueueKey) -> int:
        """Tasks waiting, approximately."""

    def waiting_since(self, queue: QueueKey) -> int | None:
        """When the task that waits longest came to the queue, in ns; 0: none waits. None: that is not cheap to know."""


@dataclass(frozen=True, slots=True)
class Poller:
    """Who polled a queue, when last (ns), and with what code (if it says)."""

    identity: str
    last_access: int
    build_id: str = ""


class Pollers(Protocol):
    """Who polls which queue: hints that may be lost."""

    def seen(self, queue: QueueKey, identity: str, now: int, build_id: str = "") -> None:
        """Remember that `identity` polled `queue` at `now` (ns)."""

    def pollers(self, queue: QueueKey, since: int) -> Sequence[Poller]:
        """Those that polled at `since` (ns) or later, the latest first."""

    def last_seen(self, queue: QueueKey) -> int:
        """When anybody last polled the queue, in ns; 0 if nobody is known to."""

    def forget(self, queue: QueueKey) -> None:
        """Nobody polls this queue any longer (worker shutdown)."""
