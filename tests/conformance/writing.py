"""Short ways to say the transactions that the contracts are about."""

from collections.abc import Mapping, Sequence
from itertools import count

from durable_core.model.ids import QueueKey, QueueKind, RunKey, WorkflowKey, task_id
from durable_core.model.tasks import Task, TaskBody, WorkflowTask
from durable_core.ports.executions import (
    CurrentRun,
    CurrentRunWrite,
    HistoryNode,
    RunWrite,
    StoredRun,
    Transaction,
)
from durable_core.ports.histories import BranchRange, Histories
from durable_core.ports.task_queues import Received, TaskQueues
from durable_core.ports.wake_ups import WakeUps

from .backend import Backend

ORDERS = QueueKey("namespace", "orders", QueueKind.WORKFLOW)
RUN = RunKey("namespace", "order-17", "run-1")
SUCCESSOR = RunKey("namespace", "order-17", "run-2")
OTHER = RunKey("namespace", "order-18", "run-3")
FAR_FUTURE = 1 << 62

Sections = dict[str, dict[str, bytes]]


class Writer:
    """An owner of one shard who numbers tokens and tasks."""

    def __init__(self, backend: Backend, shard: int = 0, owner: str = "first") -> None:
        self.backend = backend
        self.shard = shard
        self.owner = owner
        self.range_id = backend.executions.acquire_shard(shard, owner)
        self._numbers = count(1)

    def next_task_id(self) -> int:
        return task_id(self.range_id, next(self._numbers))

    def task(self, run: RunKey, queue: QueueKey = ORDERS, body: TaskBody | None = None) -> Task:
        return Task(
            task_id=self.next_task_id(),
            namespace_id=run.namespace_id,
            workflow_id=run.workflow_id,
            run_id=run.run_id,
            queue_name=queue.name,
            queue_kind=queue.kind,
            body=body or WorkflowTask(scheduled_event_id=2, stamp=1),
        )

    def transaction(self, *runs: RunWrite, current: CurrentRunWrite | None = None) -> Transaction:
        token = f"{self.owner}-{self.shard}-{self.range_id}-{next(self._numbers)}"
        return Transaction(self.shard, self.range_id, token, runs, current)

    def commit(self, *runs: RunWrite, current: CurrentRunWrite | None = None) -> Transaction:
        transaction = self.transaction(*runs, current=current)
        self.backend.executions.commit(transaction)
        return transaction


def write(
    key: RunKey = RUN,
    expected_version: int = 0,
    core: bytes = b"core",
    *,
    sections: Mapping[str, Mapping[str, bytes | None]] | None = None,
    nodes: Sequence[HistoryNode] = (),
    tasks: Sequence[Task] = (),
    wake_up_at: int | None = None,
) -> RunWrite:
    return RunWrite(key, expected_version, core, sections or {}, nodes, tasks, wake_up_at)


def node(
    first_event_id: int,
    count: int = 1,
    *,
    transaction_id: int = 1,
    branch: str = "branch",
    events: bytes = b"",
) -> HistoryNode:
    """Its bytes say which node it is, unless they are given."""
    told = events or f"{branch}:{first_event_id}+{count}@{transaction_id}".encode()
    return HistoryNode(branch, first_event_id, transaction_id, told, count)


def pointer(
    expected_run_id: str | None,
    key: RunKey = RUN,
    *,
    is_open: bool = True,
    state: bytes = b"state",
) -> CurrentRunWrite:
    return CurrentRunWrite(key.workflow, expected_run_id, CurrentRun(key.run_id, is_open, state))


def stored(backend: Backend, key: RunKey = RUN) -> StoredRun:
    found = backend.executions.load(key)
    assert found is not None, f"{key} is not stored"
    return found


def sections(backend: Backend, key: RunKey = RUN) -> Sections:
    """Without empty sections: whether a section that lost its last entry is still there is the backend's choice."""
    return {name: dict(entries) for name, entries in stored(backend, key).sections.items() if entries}


def current(backend: Backend, key: WorkflowKey = RUN.workflow) -> CurrentRun | None:
    return backend.executions.current(key)


def history(
    histories: Histories,
    first: int = 1,
    end: int = FAR_FUTURE,
    *,
    branch: str = "branch",
    nodes_max: int = 1_000,
    reverse: bool = False,
) -> list[tuple[int, bytes]]:
    return list(histories.read(BranchRange(branch, first, end), nodes_max=nodes_max, reverse=reverse))


def receive_all(queues: TaskQueues, queue: QueueKey = ORDERS) -> list[Received]:
    """Whatever can be received now, none of it deleted."""
    found = []
    while (received := queues.receive(queue)) is not None:
        found.append(received)
    return found


def tasks_of(received: Sequence[Received]) -> list[Task]:
    """In the order of their IDs: queues promise no order of delivery."""
    return sorted((one.task for one in received), key=lambda task: (task.task_id, task.run_id))


def armed(wake_ups: WakeUps) -> dict[RunKey, int]:
    return {wake_up.run: wake_up.due for wake_up in wake_ups.due(FAR_FUTURE, 10_000)}
