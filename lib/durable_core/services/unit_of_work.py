"""The one path that touches a run: load, decide, check invariants, commit, tell whoever waits.

A decision is a function of a `Transition`; it may be called again on newer state, so it only decides.
While this process owns a shard, the states it cached of that shard are valid without reading them: nobody else can have
written. A lost shard or a conflict drops what was cached, and the decision is made again.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from temporalio.api.history.v1 import History, HistoryEvent

from durable_core.engine import codec, deadlines, invariants, workflow_tasks
from durable_core.engine.transition import Transition
from durable_core.model import limits
from durable_core.model.errors import (
    AmbiguousCommit,
    Conflict,
    NotFound,
    ShardOwnershipLost,
    Throttled,
    Unavailable,
)
from durable_core.model.ids import (
    TASK_ID_SEQUENCE_MAX,
    QueueKey,
    QueueKind,
    RunKey,
    WorkflowKey,
    shard_of,
    task_id,
)
from durable_core.model.state import Core, RunState
from durable_core.model.tasks import Task
from durable_core.ports.clock import Clock, Ids
from durable_core.ports.executions import (
    CurrentRunWrite,
    Executions,
    HistoryNode,
    RunWrite,
    Transaction,
)
from durable_core.ports.notifications import ClosedTopic, Notifications
from durable_core.services.history_reader import HistoryReader

R = TypeVar("R")
Decide = Callable[[Transition], R]


@dataclass(slots=True)
class Shard:
    """A shard this process owns: its range ID and the last sequence number it gave to a task."""

    range_id: int
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class UnitSettings:
    shards: int
    owner: str
    runs_cached: int


@dataclass(frozen=True, slots=True)
class Start(Generic[R]):
    """The outcome of a start: the run that begins (if any), the change of the current one (if any), the answer.

    `base` is the change of a third run, from which the new one goes on.
    """

    result: R
    new: Transition | None = None
    existing: Transition | None = None
    base: Transition | None = None


class UnitOfWork:
    def __init__(
        self,
        executions: Executions,
        reader: HistoryReader,
        clock: Clock,
        ids: Ids,
        notifications: Notifications,
        retention: Callable[[str], int],
        is_polled: Callable[[QueueKey, int], bool],
        pause: Callable[[float], None],
        settings: UnitSettings,
    ) -> None:
        """`retention` gives a namespace's, in ns; `is_polled` says whether a sticky queue has a worker.

        `pause` waits that many seconds between two tries.
        """
        self._executions = executions
        self._reader = reader
        self._clock = clock
        self._ids = ids
        self._notifications = notifications
        self._retention = retention
        self._is_polled = is_polled
        self._pause = pause
        self._settings = settings
        self._owned: dict[int, Shard] = {}
        self._cache: OrderedDict[RunKey, RunState] = OrderedDict()

    def read(self, key: RunKey) -> RunState:
        """The run's state, not to be changed. Raises `NotFound`."""
        state = self.find(key)
        if state is None:
            raise NotFound(
                f'workflow execution not found for workflow ID "{key.workflow_id}" and run ID "{key.run_id}"'
            )
        return state

    def find(self, key: RunKey) -> RunState | None:
        """The run's state, not to be changed, or None."""
        cached = self._cache.get(key)
        if cached is not None:
            self._cache.move_to_end(key)
            return cached
        stored = self._executions.load(key)
        if stored is None:
            return None
        state = codec.decode(stored)
        self._shard(shard_of(key.workflow, self._settings.shards))
        self._remember(key, state)
        return state

    def current_run_id(self, key: WorkflowKey) -> str:
        """The run ID of the current run. Raises `NotFound`."""
        current = self._executions.current(key)
        if current is None:
            raise NotFound(f"workflow not found for ID: {key.workflow_id}")
        return current.run_id

    def update(self, key: RunKey, decide: Decide[R], *, fired: bool = False) -> R:
        """One transition of an existing run. What `decide` raises passes through and nothing has changed.

        `fired`: the run's armed wake-up is used up, so the transition arms the next one.
        """

        def attempt() -> R:
            t = self._open(key)
            result = decide(t)
            if t.is_dirty or fired:
                self._finish(t)
                self._commit(key.workflow, [t], fired=fired)
            return result

        return self._repeated(key, attempt)

    def start(self, key: WorkflowKey, decide: Callable[[RunState | None], Start[R]]) -> R:
        """A transition that may begin a run: `decide` gets the current run's state, if there is one."""

        def attempt() -> R:
            current = self._executions.current(key)
            state = None if current is None else self.find(key.run(current.run_id))
            plan = decide(state)
            transitions = [t for t in (plan.base, plan.existing, plan.new) if t is not None]
            for t in transitions:
                self._finish(t)
            if transitions:
                expected = None if current is None else current.run_id
                self._commit(key, transitions, moves_from=expected, moves=plan.new is not None)
            return plan.result

        return self._repeated(None, attempt)

    def fork(self, state: RunState) -> Transition:
        """A transition on a state that `start` was given."""
        core = state.core
        key = RunKey(core.namespace_id, core.workflow_id, core.run_id)
        return self._transition(key, state)

    def delete(self, key: RunKey) -> None:
        """Remove a closed run whose retention is over."""

        def attempt() -> None:
            number = shard_of(key.workflow, self._settings.shards)
            self._executions.delete_run(key, number, self._shard(number).range_id)
            self._cache.pop(key, None)

        self._repeated(key, attempt)

    def _open(self, key: RunKey) -> Transition:
        return self._transition(key, self.read(key))

    def _transition(self, key: RunKey, state: RunState) -> Transition:
        def first_event() -> HistoryEvent:
            return self._reader.event(state.core, 1)

        return Transition(state, self._clock.now(), self._ids, first_event)

    def _finish(self, t: Transition) -> None:
        """What every transition ends with: the workflow task that new events call for, and the checks."""
        core = t.state.core
        if t.wants_workflow_task and workflow_tasks.may_schedule(t.state):
            workflow_tasks.schedule(t)
        core.transitions += 1
        invariants.check(t)

    def _commit(
        self,
        key: WorkflowKey,
        transitions: list[Transition],
        *,
        fired: bool = False,
        moves: bool = False,
        moves_from: str | None = None,
    ) -> None:
        """Write the transitions, and the runs that follow them, in one transaction."""
        pointer: CurrentRunWrite | None = None
        last = transitions[-1]
        if moves:
            pointer = CurrentRunWrite(key, moves_from, codec.current_run(last.state.core))
        written = list(transitions)
        for t in transitions:
            if not t.state.is_open and not moves:
                following = t.successor or t
                run_id = t.state.core.run_id
                pointer = CurrentRunWrite(key, run_id, codec.current_run(following.state.core))
            if t.successor is not None:
                self._finish(t.successor)
                written.append(t.successor)
        number = shard_of(key, self._settings.shards)
        shard = self._shard(number)
        writes = [self._write(t, shard, number, fired=fired and t is transitions[0]) for t in written]
        transaction = Transaction(number, shard.range_id, self._ids.unique(), writes, pointer)
        self._store(transaction)
        for t, write in zip(written, writes, strict=True):
            self._committed(t, write)

    def _store(self, transaction: Transaction) -> None:
        """Commit; when the outcome is unknown, repeat with the same token until it is known."""
        for _ in range(limits.commit_attempts_max):
            try:
                self._executions.commit(transaction)
            except AmbiguousCommit:
                continue
            return
        self._forget(transaction)
        raise Unavailable("whether the change was stored could not be found out; try again")

    def _write(self, t: Transition, shard: Shard, number: int, *, fired: bool) -> RunWrite:
        state, core = t.state, t.state.core
        key = RunKey(core.namespace_id, core.workflow_id, core.run_id)
        wake_up_at = deadlines.arm(state, self._retention(core.namespace_id), fired=fired)
        nodes = []
        for batch in t.batches:
            if not batch:
                continue
            for event in batch:
                event.task_id = self._task_id(shard, number)
            nodes.append(
                HistoryNode(
                    core.branch_id,
                    batch[0].event_id,
                    batch[-1].task_id,
                    History(events=batch).SerializeToString(),
                    len(batch),
                )
            )
        tasks = [
            Task(
                self._task_id(shard, number),
                key.namespace_id,
                key.workflow_id,
                key.run_id,
                self._route(core, queue, kind, t.now),
                int(kind),
                body,
            )
            for queue, kind, body in t.tasks
        ]
        return RunWrite(
            key,
            state.version,
            codec.encode_core(core),
            codec.encode_changes(state),
            nodes,
            tasks,
            wake_up_at,
            () if state.version else tuple(span.branch_id for span in core.ancestors),
        )

    def _route(self, core: Core, queue: str, kind: QueueKind, now: int) -> str:
        """The queue itself, but for a sticky queue whose worker fell silent: then the normal one."""
        if kind == QueueKind.WORKFLOW and queue == core.sticky_queue:
            sticky = QueueKey(core.namespace_id, queue, kind)
            return queue if self._is_polled(sticky, now) else core.queue
        return queue

    def _committed(self, t: Transition, write: RunWrite) -> None:
        t.state.version += 1
        t.state.absorb()
        self._remember(write.key, t.state)
        for task in write.tasks:
            self._notifications.publish(task.queue)
        self._notifications.publish(write.key)
        if not t.state.is_open:
            self._notifications.publish(ClosedTopic(write.key.run_id))

    def _remember(self, key: RunKey, state: RunState) -> None:
        self._cache[key] = state
        self._cache.move_to_end(key)
        if len(self._cache) > self._settings.runs_cached:
            self._cache.popitem(last=False)

    def _forget(self, transaction: Transaction) -> None:
        for write in transaction.runs:
            self._cache.pop(write.key, None)

    def _shard(self, number: int) -> Shard:
        shard = self._owned.get(number)
        if shard is None or shard.sequence > TASK_ID_SEQUENCE_MAX - 1_000_000:
            shard = Shard(self._executions.acquire_shard(number, self._settings.owner))
            self._owned[number] = shard
        return shard

    def _task_id(self, shard: Shard, number: int) -> int:
        shard.sequence += 1
        return task_id(shard.range_id, shard.sequence)

    def _repeated(self, key: RunKey | None, attempt: Callable[[], R]) -> R:
        """Decide again after a conflict or a lost shard, a bounded number of times, with full jitter between."""
        for number in range(limits.commit_attempts_max):
            try:
                return attempt()
            except ShardOwnershipLost:
                self._owned.clear()
                self._cache.clear()
            except (Conflict, Throttled):
                if key is None:
                    self._cache.clear()
                else:
                    self._cache.pop(key, None)
                self._pause(self._ids.jitter() * 0.01 * 2**number)
        raise Unavailable("the workflow is being changed by too many callers at once; try again")
