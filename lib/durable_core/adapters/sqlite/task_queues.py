"""Queues in memory, with the stored tasks behind them: the `TaskQueues` port.

A task is queued once its transition is durable, and again when the database is opened, as long as its row is there.
Its row goes when the task is done with: not at once but with the next commit, which costs next to nothing, so a
crash in between brings the task again and its claim finds it stale.
A newcomer's trap: a task ID is unique within a shard only, so tasks are told apart by run and task ID.
"""

import sqlite3
from collections import deque
from collections.abc import Iterable, Sequence

import msgspec

from durable_core.adapters.sqlite.run_rows import RunRows
from durable_core.model.ids import QueueKey, RunKey
from durable_core.model.tasks import QueryTask, Task
from durable_core.ports.clock import Clock
from durable_core.ports.task_queues import Received

VISIBILITY_NS = 30 * 1_000_000_000
"""How long a received task may stay undeleted before it is delivered again."""

_decode_task = msgspec.msgpack.Decoder(Task).decode

TaskName = tuple[str, str, str, int | str]


def _name(task: Task) -> TaskName:
    body = task.body
    unique = body.query_id if isinstance(body, QueryTask) else task.task_id
    return task.namespace_id, task.workflow_id, task.run_id, unique


class SqliteTaskQueues:
    """The clock only measures the visibility time."""

    def __init__(self, connection: sqlite3.Connection, rows: RunRows, clock: Clock) -> None:
        self._connection = connection
        self._rows = rows
        self._now = clock.now
        self._waiting: dict[QueueKey, deque[Task]] = {}
        # Each task that is not done with, and when it came.
        self._known: dict[TaskName, tuple[int, Task]] = {}
        # In the order of receipt, which is the order in which their visibility times end.
        self._in_flight: dict[TaskName, tuple[int, Task]] = {}
        self.deleted_rows: list[tuple[int, int]] = []

    def recover(self) -> None:
        """Queue every stored task, as at the start of a process."""
        stored = self._connection.execute("SELECT task FROM tasks ORDER BY task_id").fetchall()
        self.send([_decode_task(task) for (task,) in stored])

    def send(self, tasks: Sequence[Task]) -> None:
        now = self._now()
        for task in tasks:
            name = _name(task)
            if name not in self._known:
                self._known[name] = now, task
                self._append(task)

    def receive(self, queue: QueueKey) -> Received | None:
        now = self._now()
        self._return_overdue(now)
        waiting = self._waiting.get(queue)
        if waiting is None:
            return None
        task = waiting.popleft()
        if not waiting:
            del self._waiting[queue]
        name = _name(task)
        self._in_flight[name] = (now + VISIBILITY_NS, task)
        return Received(task, str(name[3]))

    def delete(self, received: Received) -> None:
        task = received.task
        if self._drop(_name(task)) and task.task_id:
            row = self._rows.find(task.run)
            if row is not None:
                self.deleted_rows.append((row.row, task.task_id))

    def discard(self, run: RunKey, row: int, task_ids: Iterable[int]) -> None:
        """The run is deleted, and these tasks' rows with it. The next run may get its row's number."""
        for task_id in task_ids:
            self._drop((run.namespace_id, run.workflow_id, run.run_id, task_id))
        self.deleted_rows = [deleted for deleted in self.deleted_rows if deleted[0] != row]

    def backlog(self, queue: QueueKey) -> int:
        return len(self._waiting.get(queue, ()))

    def waiting_since(self, queue: QueueKey) -> int | None:
        waiting = self._waiting.get(queue)
        return self._known[_name(waiting[0])][0] if waiting else 0

    def _append(self, task: Task) -> None:
        queue = task.queue
        waiting = self._waiting.get(queue)
        if waiting is None:
            waiting = self._waiting[queue] = deque()
        waiting.append(task)

    def _return_overdue(self, now: int) -> None:
        while self._in_flight:
            name, (visible_at, task) = next(iter(self._in_flight.items()))
            if visible_at > now:
                return
            del self._in_flight[name]
            self._append(task)

    def _drop(self, name: TaskName) -> bool:
        known = self._known.pop(name, None)
        if known is None:
            return False
        task = known[1]
        if self._in_flight.pop(name, None) is None:
            # It waits: nobody took it, or it came back and the one who had it first is done with it after all.
            waiting = self._waiting[task.queue]
            waiting.remove(task)
            if not waiting:
                del self._waiting[task.queue]
        return True
