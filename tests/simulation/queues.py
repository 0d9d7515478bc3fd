"""Task queues as bad as they may be: in any order, sometimes twice, and again whatever was not deleted."""

from collections.abc import Sequence
from random import Random

from durable_core.model.ids import QueueKey
from durable_core.model.tasks import Task
from durable_core.ports.task_queues import Received, TaskQueues


class UnreliableQueues:
    """`repeated` is the share of tasks that come again although they were deleted.

    What one received and did not delete comes again after its visibility time, as from the queues inside.
    """

    def __init__(self, inner: TaskQueues, chance: Random, repeated: float) -> None:
        self._inner = inner
        self._chance = chance
        self._repeated = repeated
        self._waiting: dict[QueueKey, list[Received]] = {}

    def send(self, tasks: Sequence[Task]) -> None:
        self._inner.send(tasks)

    def receive(self, queue: QueueKey) -> Received | None:
        waiting = self._waiting.setdefault(queue, [])
        while (received := self._inner.receive(queue)) is not None:
            waiting.append(received)
        if not waiting:
            return None
        return waiting.pop(self._chance.randrange(len(waiting)))

    def delete(self, received: Received) -> None:
        self._inner.delete(received)
        if self._chance.random() < self._repeated:
            self._waiting.setdefault(received.task.queue, []).append(received)

    def backlog(self, queue: QueueKey) -> int:
        return self._inner.backlog(queue)

    def waiting_since(self, queue: QueueKey) -> int | None:
        return self._inner.waiting_since(queue)
