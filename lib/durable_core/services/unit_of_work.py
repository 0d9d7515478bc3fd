"""The one path that touches a run: load, decide, check invariants, commit, tell whoever waits.

A decision is a function of a `Transition`; it may be called again on newer state, so it only decides.
While this process owns a shard, the states it cached of that shard are valid without reading them: nobody else can have
written. A lost shard or a conflict drops what was cached, and the decision is made again.
Where other processes may take a shard, owning one is believed for the time of a lease only, and a belief is never the
reason for a refusal: a decision that commits nothing counts only if it was made on what was read for it.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from temporalio.api.history.v1 import HistoryEvent

from durable_core.engine import codec, invariants, size_limits, workflow_tasks
from durable_core.engine.transition import Transition
from durable_core.model import limits
from durable_core.model.errors import (
    AmbiguousCommit,
    Conflict,
    NotFound,
    ServiceError,
    ShardOwnershipLost,
    StorageError,
    Throttled,
    Unavailable,
)
from durable_core.model.ids import QueueKey, RunKey, WorkflowKey, shard_of
from durable_core.model.state import RunState
from durable_core.model.tasks import Task
from durable_core.ports.clock import Clock, Ids
from durable_core.ports.executions import CurrentRun, Executions, RunWrite, StoredRun, Transaction
from durable_core.ports.notifications import ClosedTopic, Notifications
from durable_core.ports.wake_ups import WakeUp
from durable_core.services import transactions
from durable_core.services.history_reader import HistoryReader
from durable_core.services.shards import Shard, Shards
from durable_core.services.transactions import Writes

R = TypeVar("R")
Decide = Callable[[Transition], R]

PAUSE_SECONDS = 0.01
"""Before the second try, at most; it doubles with every one."""
PAUSE_SECONDS_MAX = 1.0


@dataclass(frozen=True, slots=True)
class UnitSettings:
    """`lease` (ns) is how long this process believes that a shard is still its own; None: for ever, as its only user.

    `expires`: storage removes closed runs by itself.
    """

    shards: int
    owner: str
    runs_cached: int
    lease: int | None = None
    expires: bool = False


@dataclass(frozen=True, slots=True)
class Start(Generic[R]):
    """The outcome of a start: the run that begins (if any), the change of the current one (if any), the answer.

    `base` is the change of a third run, from which the new one goes on.
    """

    result: R
    new: Transition | None = None
    existing: Transition | None = None
    base: Transition | None = None


class RunNotFound(NotFound):
    def __init__(self, key: RunKey) -> None:
        super().__init__(
            f'workflow execution not found for workflow ID "{key.workflow_id}" and run ID "{key.run_id}"'
        )


class _Doubtful(StorageError):
    """A decision on a state that was believed to be the newest commits nothing: it must be made on one just read."""


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
        dispatch: Callable[[Sequence[Task], Sequence[WakeUp]], None] | None = None,
    ) -> None:
        """`retention` gives a namespace's, in ns; `is_polled` says whether a sticky queue has a worker.

        `pause` waits that many seconds between two tries. `dispatch` gets the tasks and the wake-ups of each
        commit that has any; it never raises.
        """
        self._executions = executions
        self._reader = reader
        self._clock = clock
        self._ids = ids
        self._notifications = notifications
        self._writes = Writes(retention, is_polled, expires=settings.expires)
        self._pause = pause
        self._settings = settings
        self._lease = settings.lease
        self._dispatch = dispatch
        self._shards = Shards()
        # Each state with the range ID under which it was read or written, in which call that was, and when.
        self._cache: OrderedDict[RunKey, tuple[RunState, int, int, int]] = OrderedDict()
        self._calls = 0

    def read(self, key: RunKey) -> RunState:
        """The run's state, not to be changed. Raises `NotFound`."""
        state = self.find(key)
        if state is None:
            raise RunNotFound(key)
        return state

    def find(self, key: RunKey) -> RunState | None:
        """The run's state, not to be changed, or None. Where others may write, it is read once a call."""
        if self._lease is not None:
            return self._seen(key, self._lease) or self._look(key)
        cached = self._cache.get(key)
        if cached is not None:
            self._cache.move_to_end(key)
            return cached[0]
        stored = self._executions.load(key)
        if stored is None:
            return None
        state = codec.decode(stored)
        self._remember(key, state, 0, 0)
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
            believed = None if self._lease is None else self._believed(key, self._lease)
            t = self._transition(believed or self.read(key))
            try:
                result = decide(t)
            except ServiceError as refusal:
                if believed is not None:
                    raise _Doubtful from refusal
                raise
            if t.is_dirty or fired:
                self._finish(t)
                self._commit(key.workflow, [t], fired=fired)
            elif believed is not None:
                raise _Doubtful
            return result

        return self._repeated(key.workflow, key, attempt)

    def update_if_there(self, key: RunKey, decide: Decide[R]) -> R | None:
        """`update`, or None when there is no such run."""
        try:
            return self.update(key, decide)
        except RunNotFound:
            return None

    def start(self, key: WorkflowKey, decide: Callable[[RunState | None], Start[R]]) -> R:
        """A transition that may begin a run: `decide` gets the current run's state, if there is one."""

        def attempt() -> R:
            current = self._current(key)
            state = None if current is None else self.find(key.run(current.run_id))
            plan = decide(state)
            changed = [t for t in (plan.base, plan.existing, plan.new) if t is not None]
            for t in changed:
                self._finish(t)
            if changed:
                expected = None if current is None else current.run_id
                self._commit(key, changed, moves_from=expected, moves=plan.new is not None)
            return plan.result

        return self._repeated(key, None, attempt)

    def fork(self, state: RunState) -> Transition:
        """A transition on a state that `start` was given."""
        return self._transition(state)

    def delete(self, key: RunKey) -> None:
        """Remove a closed run whose retention is over."""
        number = shard_of(key.workflow, self._settings.shards)

        def attempt() -> None:
            shard = self._shards.get(number)
            if shard is None or not shard.held:
                shard = self._take(number)
            self._executions.delete_run(key, number, shard.range_id)
            self._cache.pop(key, None)

        self._repeated(key.workflow, key, attempt)

    def forget(self, key: RunKey) -> None:
        """Drop what is cached of a run: somebody else may have written it."""
        self._cache.pop(key, None)

    def distrust(self) -> None:
        """A new call begins, or an old one has waited: what was read before is read again before it is used."""
        self._calls += 1

    def _transition(self, state: RunState) -> Transition:
        def first_event() -> HistoryEvent:
            return self._reader.event(state.core, 1)

        return Transition(state, self._clock.now(), self._ids, first_event)

    def _finish(self, t: Transition) -> None:
        """What every transition ends with: the workflow task that new events call for, and the checks."""
        core = t.state.core
        if t.wants_workflow_task and workflow_tasks.may_schedule(t.state):
            workflow_tasks.schedule(t)
        size_limits.enforce(t)
        core.transitions += 1
        invariants.check(t)

    def _commit(
        self,
        key: WorkflowKey,
        changed: Sequence[Transition],
        *,
        fired: bool = False,
        moves: bool = False,
        moves_from: str | None = None,
    ) -> None:
        """Write the transitions, and the runs that follow them, in one transaction."""
        pointer = transactions.pointer(key, changed, moves=moves, moves_from=moves_from)
        written = list(changed)
        for t in changed:
            if t.successor is not None:
                self._finish(t.successor)
                written.append(t.successor)
        shard = self._shard(key)
        writes = [self._writes.of(t, shard, fired=fired and t is changed[0]) for t in written]
        transaction = Transaction(
            shard.number,
            shard.range_id,
            self._ids.unique(),
            writes,
            pointer,
            not shard.held,
            self._settings.owner,
        )
        self._store(transaction)
        now = changed[0].now
        shard.committed(now)
        for t, write in zip(written, writes, strict=True):
            self._committed(t, write, shard.range_id, now)
        self._send(writes)

    def _send(self, writes: Sequence[RunWrite]) -> None:
        if self._dispatch is None:
            return
        tasks = [task for write in writes for task in write.tasks]
        wake_ups = [WakeUp(write.key, write.wake_up_at) for write in writes if write.wake_up_at]
        if tasks or wake_ups:
            self._dispatch(tasks, wake_ups)

    def _store(self, transaction: Transaction) -> None:
        """Commit; when the outcome is unknown, repeat with the same token until it is known."""
        for number in range(limits.commit_attempts_max):
            try:
                self._executions.commit(transaction)
            except AmbiguousCommit:
                self._back_off(number)
                continue
            return
        for write in transaction.runs:
            self._cache.pop(write.key, None)
        self._shards.lost(transaction.shard)
        raise Unavailable("whether the change was stored could not be found out; try again")

    def _committed(self, t: Transition, write: RunWrite, range_id: int, now: int) -> None:
        t.state.version += 1
        t.state.absorb()
        self._remember(write.key, t.state, range_id, now)
        for task in write.tasks:
            self._notifications.publish(task.queue)
        self._notifications.publish(write.key)
        if not t.state.is_open:
            self._notifications.publish(ClosedTopic(write.key.run_id))

    # What is known of runs and shards. -------------------------------------------------------------------------------

    def _seen(self, key: RunKey, lease: int) -> RunState | None:
        """The state that this very call read or wrote."""
        cached = self._cache.get(key)
        if cached is None or cached[2] != self._calls or self._clock.now() - cached[3] >= lease:
            return None
        return cached[0]

    def _believed(self, key: RunKey, lease: int) -> RunState | None:
        """The cached state of an earlier call, where nobody else is likely to have written since."""
        cached = self._cache.get(key)
        shard = self._shards.get(shard_of(key.workflow, self._settings.shards))
        if cached is None or cached[2] == self._calls or shard is None or not shard.settled:
            return None
        if cached[1] != shard.range_id or self._clock.now() - shard.seen_at >= lease:
            return None
        return cached[0]

    def _look(self, key: RunKey) -> RunState | None:
        """Read the run together with its shard."""
        number, now = shard_of(key.workflow, self._settings.shards), self._clock.now()
        view = self._executions.view(number, run=key)
        shard = self._shards.seen(number, view.range_id, now)
        if view.run is None:
            self._cache.pop(key, None)
            return None
        state = self._decoded(key, view.run)
        self._remember(key, state, shard.range_id, now)
        return state

    def _decoded(self, key: RunKey, stored: StoredRun) -> RunState:
        cached = self._cache.get(key)
        return (
            cached[0] if cached is not None and cached[0].version == stored.version else codec.decode(stored)
        )

    def _current(self, key: WorkflowKey) -> CurrentRun | None:
        if self._lease is None:
            return self._executions.current(key)
        number, now = shard_of(key, self._settings.shards), self._clock.now()
        view = self._executions.view(number, current=key)
        self._shards.seen(number, view.range_id, now)
        return view.current

    def _shard(self, key: WorkflowKey) -> Shard:
        number = shard_of(key, self._settings.shards)
        shard = self._shards.get(number)
        if shard is None:
            now = self._clock.now()
            shard = self._shards.seen(number, self._executions.view(number).range_id, now)
        return shard

    def _take(self, number: int) -> Shard:
        """Take the shard apart from any commit."""
        return self._shards.taken(number, self._executions.acquire_shard(number, self._settings.owner))

    def _remember(self, key: RunKey, state: RunState, range_id: int, now: int) -> None:
        self._cache[key] = (state, range_id, self._calls, now)
        self._cache.move_to_end(key)
        if len(self._cache) > self._settings.runs_cached:
            self._cache.popitem(last=False)

    # Trying again. ---------------------------------------------------------------------------------------------------

    def _repeated(self, key: WorkflowKey, run: RunKey | None, attempt: Callable[[], R]) -> R:
        """Decide again after a conflict or a lost shard, a bounded number of times, with full jitter between.

        Against one who changes the run all the time, whoever reads before writing always comes too late. So after some
        rounds we take the shard before we read: what the other has under way then fails, and ours does not.
        """
        for number in range(limits.commit_attempts_max):
            try:
                if number >= limits.commit_attempts_unfenced and self._lease is not None:
                    self._take(shard_of(key, self._settings.shards))
                return attempt()
            except _Doubtful:
                self._cache.clear() if run is None else self._cache.pop(run, None)
            except ShardOwnershipLost:
                self._shards.lost(shard_of(key, self._settings.shards))
                self._cache.clear()
                if number:
                    self._back_off(number)
            except (Conflict, Throttled):
                self._cache.clear() if run is None else self._cache.pop(run, None)
                self._back_off(number)
        raise Unavailable("the workflow is being changed by too many callers at once; try again")

    def _back_off(self, number: int) -> None:
        self._pause(self._ids.jitter() * min(PAUSE_SECONDS * 2**number, PAUSE_SECONDS_MAX))
