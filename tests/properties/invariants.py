"""What must hold after every step, checked on what is stored and not on what a process remembers.

The invariants and their numbers: docs/ARCHITECTURE.md. A newcomer's trap: that something will wake a run has
two forms, an armed wake-up and a task in a queue, received or not. Either is enough, and what has neither is lost.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
from msgspec import structs
from temporalio.api.enums.v1 import EventType as T
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflow.v1 import ResetPointInfo

from durable_core.adapters.sqlite import Store
from durable_core.bootstrap import Embedded
from durable_core.engine import codec, deadlines, replay, reported_problems
from durable_core.machines import workflow_task
from durable_core.model.ids import RunKey
from durable_core.model.state import (
    SECTIONS,
    ActivityInfo,
    ChildInfo,
    Core,
    ExternalInfo,
    RunState,
    UpdateStage,
    WorkflowTaskInfo,
)
from durable_core.model.tasks import (
    ActivityTask,
    CancelExternal,
    DeleteRun,
    NotifyParent,
    SignalExternal,
    StartChild,
    Task,
    TaskBody,
    WorkflowTask,
)
from durable_core.model.times import nanos

from .outside_history import facts

_decode_task = msgspec.msgpack.Decoder(Task).decode
# What the run is told at its birth and no event repeats.
_GIVEN = frozenset(("namespace_id", "namespace", "run_id", "branch_id", "ancestors"))
# The events that a workflow must be told of.
_NEWS = frozenset(
    (
        T.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
        T.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED,
        T.EVENT_TYPE_TIMER_FIRED,
        T.EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
        T.EVENT_TYPE_ACTIVITY_TASK_FAILED,
        T.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT,
        T.EVENT_TYPE_ACTIVITY_TASK_CANCELED,
        T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED,
        T.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_FAILED,
        T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED,
        T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED,
        T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED,
        T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TIMED_OUT,
        T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED,
        T.EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_SIGNALED,
        T.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED,
        T.EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_CANCEL_REQUESTED,
        T.EVENT_TYPE_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_FAILED,
    )
)
_CLOSING = frozenset(
    (
        T.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
        T.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
        T.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
        T.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
        T.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
        T.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW,
    )
)


@dataclass(frozen=True, slots=True)
class Run:
    """A stored run with its history."""

    key: RunKey
    state: RunState
    events: list[HistoryEvent]


def load(system: Embedded, key: RunKey) -> Run | None:
    stored = system.store.executions.load(key)
    if stored is None:
        return None
    state = codec.decode(stored)
    page = system.context.reader.page(state.core, 1, state.core.next_event_id, nodes_max=1 << 30)
    return Run(key, state, page.events)


def check_history(run: Run) -> None:
    """1..n without gap, task IDs rising, each started event after what it starts, the closing event last."""
    core = run.state.core
    assert [event.event_id for event in run.events] == list(range(1, core.next_event_id))
    task_ids = [event.task_id for event in run.events]
    assert task_ids == sorted(set(task_ids))
    for event in run.events:
        assert event.event_type == T.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED or event.event_id > 1
        closes = event.event_type in _CLOSING
        assert not closes or (event.event_id == core.close_event_id == core.next_event_id - 1)
        kind = event.WhichOneof("attributes")
        assert kind is not None
        attributes = getattr(event, kind)
        for reference in ("scheduled_event_id", "started_event_id", "initiated_event_id"):
            assert 0 <= getattr(attributes, reference, 0) < event.event_id, event
    assert bool(core.closed_at) == (run.events[-1].event_type in _CLOSING)


def check_fold(run: Run) -> None:
    """The history, and the events that wait, lead to the stored state but for the facts marked as outside it."""
    folded = RunState(
        Core(**{name: getattr(run.state.core, name) for name in _GIVEN})  # type: ignore[arg-type]
    )
    for stored in run.events:
        event = HistoryEvent()
        event.CopyFrom(stored)
        event.task_id = 0  # Given at the commit, when the size was counted already.
        replay.apply(folded, event)
    waiting = [HistoryEvent.FromString(blob) for blob in run.state.buffered.values()]
    if not run.state.core.closed_at:
        for event in waiting:
            replay.apply(folded, event)
    since_reset = _SINCE_RESET if run.state.core.reset_at else frozenset()
    wanted, found = _compared(folded, since_reset), _compared(run.state, since_reset)
    differing = {name: (value, found[name]) for name, value in wanted.items() if value != found[name]}
    assert not differing, "by the history, and as stored"


def _compared(state: RunState, left_out: frozenset[str]) -> dict[str, object]:
    core = _without(state.core, facts(Core) | left_out)
    task = state.core.workflow_task
    # A transient or speculative task has no events until it completes.
    unwritten = task is None or workflow_task.is_unwritten(task)
    core["workflow_task"] = None if unwritten else _without(task, facts(WorkflowTaskInfo))
    for name, owner in _SECTION_TYPES.items():
        section = getattr(state, name)
        core[name] = {key: _without(value, facts(owner) | left_out) for key, value in section.items()}
    core["updates"] = {
        update_id: info for update_id, info in state.updates.items() if info.stage in _WRITTEN_STAGES
    }
    core["timers"] = dict(state.timers.items())
    core["requests"] = dict(state.requests.items())
    core["search_attributes"] = {
        name: value for name, value in state.core.search_attributes.items() if name != reported_problems.NAME
    }
    core["reset_points"] = [_without_expiry(blob) for blob in state.core.reset_points]
    return core


def _without_expiry(blob: bytes) -> bytes:
    point = ResetPointInfo.FromString(blob)
    point.ClearField("expire_time")
    return point.SerializeToString()


_WRITTEN_STAGES = (UpdateStage.ACCEPTED, UpdateStage.COMPLETED)
_SECTION_TYPES: dict[str, type] = {
    "activities": ActivityInfo,
    "children": ChildInfo,
    "signals": ExternalInfo,
    "cancels": ExternalInfo,
}
# What of a run that was reset counts from the reset and not from the events that it shares with the run before; and
# those events are counted as they are stored, with their task IDs.
_SINCE_RESET = frozenset(
    (
        "started_at",
        "execution_at",
        "execution_expires_at",
        "run_expires_at",
        "scheduled_at",
        "history_bytes",
    )
)


def _without(value: object, left_out: frozenset[str]) -> dict[str, object]:
    return {
        field.name: getattr(value, field.name)
        for field in structs.fields(value)  # type: ignore[arg-type]
        if field.name not in left_out
    }


def check_remembered(system: Embedded, run: Run) -> None:
    """What the process remembers of a run is what is stored."""
    remembered = system.context.runs.find(run.key)
    assert remembered is not None
    assert remembered.version == run.state.version
    assert remembered.core == run.state.core
    for name in SECTIONS:
        section = getattr(remembered, name)
        assert not section.changes
        assert dict(section.items()) == dict(getattr(run.state, name).items()), name
        assert len(section) == len(dict(section.items()))


def check_one_open(runs: list[Run]) -> None:
    """At most one run of a workflow ID is open."""
    still_open = [run.key.workflow for run in runs if run.state.is_open]
    assert len(still_open) == len(set(still_open))


def check_current(system: Embedded, run: Run) -> None:
    """An open run is the current one, and the pointer tells its status."""
    current = system.store.executions.current(run.key.workflow)
    assert current is not None
    if run.state.is_open:
        assert current.run_id == run.key.run_id
    if current.run_id == run.key.run_id:
        assert current.open == run.state.is_open


def check_timers(run: Run) -> None:
    """No timer fires early, and each ends once."""
    started: dict[int, HistoryEvent] = {}
    for event in run.events:
        if event.event_type == T.EVENT_TYPE_TIMER_STARTED:
            started[event.event_id] = event
        elif event.event_type == T.EVENT_TYPE_TIMER_FIRED:
            begun = started.pop(event.timer_fired_event_attributes.started_event_id)
            due = nanos(begun.event_time) + nanos(begun.timer_started_event_attributes.start_to_fire_timeout)
            assert nanos(event.event_time) >= due
        elif event.event_type == T.EVENT_TYPE_TIMER_CANCELED:
            del started[event.timer_canceled_event_attributes.started_event_id]
        elif event.event_type == T.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
            pass


def check_awake(system: Embedded, run: Run) -> None:
    """Whatever is scheduled ends some day: a wake-up is armed at or before its deadline, or its task is in a queue."""
    core = run.state.core
    armed = system.store.wake_ups._armed.get(run.key, 0)
    assert armed == core.armed_at
    if not run.state.is_open:
        if not armed:  # Its retention is over, and what is left to do is done by the task that deletes it.
            assert DeleteRun() in set(queued(system, run.key))
            return
        assert armed == core.closed_at + system.context.namespaces.retention(core.namespace_id)
        return
    earliest = deadlines.earliest(run.state)
    assert not earliest or 0 < armed <= earliest, (armed, earliest)
    there = set(queued(system, run.key))
    missing = [body for body in _owed(run) if body not in there]
    assert not missing, (run.key, missing)
    task = core.workflow_task
    if task is None and not core.backoff_pending and not core.waits_for_parent:
        news = [e for e in run.events[core.last_workflow_task_completed_id :] if e.event_type in _NEWS]
        assert not news, "the workflow is not told of these"
        assert all(info.stage >= UpdateStage.ACCEPTED for info in run.state.updates.values()), (
            "nobody brings them"
        )
    assert not len(run.state.buffered) or (task is not None and task.started_event_id)


def _owed(run: Run) -> Iterator[TaskBody]:
    """The tasks that must be in some queue for the run to go on."""
    task = run.state.core.workflow_task
    if task is not None and not task.started_event_id:
        yield WorkflowTask(task.scheduled_event_id, task.stamp)
    for info in run.state.activities.values():
        if info.dispatched and not info.started_at:
            yield ActivityTask(info.scheduled_event_id, info.attempt, info.stamp)
    for child in run.state.children.values():
        if not child.started_event_id:
            yield StartChild(child.initiated_event_id)
    for signal in run.state.signals.values():
        yield SignalExternal(signal.initiated_event_id)
    for cancel in run.state.cancels.values():
        yield CancelExternal(cancel.initiated_event_id)


def undone(store: Store) -> list[Task]:
    """Every task that is stored and not done with, received or not."""
    store.flush()
    return [_decode_task(row) for (row,) in store._connection.execute("SELECT task FROM tasks")]


def queued(system: Embedded, key: RunKey) -> list[TaskBody]:
    return [task.body for task in undone(system.store) if task.run == key]


def check_families(system: Embedded, runs: list[Run]) -> None:
    """A parent that waits for a child hears of its end, and a child that waits for its parent is let go."""
    for run in runs:
        if not run.state.is_open:
            continue
        for child in run.state.children.values():
            # A reset may go on with a child that ended while its parent was closed, and nobody was there to be told.
            if child.started_event_id and not run.state.core.reset_at:
                family = [one for one in runs if one.state.core.first_run_id == child.run_id]
                assert any(
                    one.state.is_open or NotifyParent() in queued(system, one.key) for one in family
                ), f"nobody will tell {run.key} how {child.workflow_id} ended"
        if run.state.core.waits_for_parent:
            parent = run.state.core.parent
            assert parent is not None
            body = StartChild(parent.initiated_event_id)
            parents = [one for one in runs if one.key.workflow_id == parent.workflow_id]
            assert any(body in queued(system, one.key) for one in parents), f"{run.key} waits for ever"


def check_run(system: Embedded, run: Run) -> None:
    """Everything that concerns one run alone."""
    check_history(run)
    check_fold(run)
    check_timers(run)
    check_current(system, run)
    check_awake(system, run)


def check_all(system: Embedded, runs: list[Run]) -> None:
    for run in runs:
        check_run(system, run)
    check_one_open(runs)
    check_families(system, runs)
