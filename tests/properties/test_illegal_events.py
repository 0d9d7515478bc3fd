"""An event that the state does not allow raises and changes nothing; one that it allows is accepted.

What is legal is said here once more, row by row of the machines' tables, without a look at how they do it.
"""

from functools import cache

import pytest
from google.protobuf.duration_pb2 import Duration
from hypothesis import given, settings
from hypothesis import strategies as st
from temporalio.api.enums.v1 import EventType as T
from temporalio.api.enums.v1 import ParentClosePolicy, TimeoutType
from temporalio.api.history.v1 import HistoryEvent

from durable_core.engine import codec, replay
from durable_core.engine.buffering import NEVER_BUFFERED
from durable_core.model.errors import IllegalTransition
from durable_core.model.state import BUFFERED_EVENT_ID, SECTIONS, Core, RunState, UpdateStage
from durable_core.model.times import SECOND

from . import commands, messages
from .world import World

HOUR = Duration(seconds=3600)
ABANDON = ParentClosePolicy.PARENT_CLOSE_POLICY_ABANDON
STATES = (
    "fresh",
    "started",
    "busy",
    "waiting",
    "updated",
    "transient",
    "cancelled",
    "closed",
    "delayed",
    "unborn",
)
UNKNOWN_TYPES = (0, 9_999, T.EVENT_TYPE_NEXUS_OPERATION_SCHEDULED)


def field_of(event_type):
    """The attributes of an event type: `EVENT_TYPE_TIMER_FIRED` has `timer_fired_event_attributes`."""
    return T.Name(event_type).removeprefix("EVENT_TYPE_").lower() + "_event_attributes"


def begun(*wanted):
    world = World()
    world.start("a")
    world.poll_workflow_task()
    if wanted:
        world.complete(world.workflow_tasks[0], wanted, force_new=True)
        world.settle()
    return world


@cache
def states():
    """Runs in all the states that matter, by name."""
    many = (
        commands.schedule_activity("x", HOUR),
        commands.schedule_activity("y", HOUR),
        commands.start_timer("t1", HOUR),
        commands.start_child("kid-1", ABANDON, Duration()),
        commands.start_child("kid-2", ABANDON, Duration()),
        commands.signal_external("nobody"),
        commands.cancel_external("nobody"),
    )
    fresh = World()
    fresh.start("a")
    busy = World()
    busy.start("a")
    busy.poll_workflow_task()
    busy.complete(busy.workflow_tasks[0], many, force_new=True)
    busy.run_service_task()
    waiting = begun(*many)
    waiting.poll_activity_task()
    waiting.poll_workflow_task()
    waiting.signal("a", "r1")
    waiting.complete_activity(waiting.activity_tasks[0])
    waiting.update("a", "u1")
    updated = begun(commands.start_timer("t2", HOUR))
    updated.poll_workflow_task()
    updated.update("a", "u1")
    updated.update("a", "u2")
    updated.complete(updated.workflow_tasks[0])
    updated.poll_workflow_task()
    said = [messages.accept(sent) for sent in updated.workflow_tasks[0].messages]
    updated.complete(
        updated.workflow_tasks[0],
        messages.placed([*said, messages.complete("u2")]),
        messages=[*said, messages.complete("u2")],
    )
    transient = begun()
    transient.fail_workflow_task(transient.workflow_tasks[0])
    cancelled = begun(commands.schedule_activity("x", HOUR), commands.cancel_activity(5))
    cancelled.request_cancel("a")
    closed = begun(commands.start_timer("t1", HOUR), commands.schedule_activity("x", HOUR))
    closed.terminate("a")
    delayed = World()
    delayed.start("a", workflow_start_delay=Duration(seconds=30))
    worlds = {
        "fresh": fresh,
        "started": begun(),
        "busy": busy,
        "waiting": waiting,
        "updated": updated,
        "transient": transient,
        "cancelled": cancelled,
        "closed": closed,
        "delayed": delayed,
    }
    found = {name: world.state("a") for name, world in worlds.items()}
    for world in worlds.values():
        world.close()
    return {**found, "unborn": RunState(Core(run_id="run"))}


def snapshot(state):
    sections = [list(getattr(state, name).items()) for name in SECTIONS]
    sizes = [len(getattr(state, name)) for name in SECTIONS]
    return codec.encode_core(state.core), codec.encode_changes(state), sections, sizes


@st.composite
def events(draw, state):
    """An event of any type, its references to anything that exists or does not."""
    event_type = draw(st.sampled_from([*replay.APPLY, *UNKNOWN_TYPES]), label="type")
    numbers = [0, 1, 2, 5, state.core.next_event_id]
    for name in ("activities", "children", "signals", "cancels"):
        numbers += [key for key, _ in getattr(state, name).items()]
    task = state.core.workflow_task
    numbers += [task.scheduled_event_id] if task else []
    number = draw(st.sampled_from(numbers), label="number")
    name = draw(st.sampled_from(("t1", "t2", "u1", "u2", "", "nobody")), label="name")
    event = HistoryEvent(
        event_id=draw(st.sampled_from((state.core.next_event_id,) * 4 + (BUFFERED_EVENT_ID, 1, 0, 999))),
        event_type=event_type,
    )
    event.event_time.FromNanoseconds(1_700_000_001 * SECOND)
    if event_type in UNKNOWN_TYPES:
        return event
    attributes = getattr(event, field_of(event_type))
    attributes.SetInParent()
    for field in attributes.DESCRIPTOR.fields_by_name:
        if field in ("scheduled_event_id", "initiated_event_id", "started_event_id"):
            setattr(attributes, field, number)
        elif field in ("timer_id", "protocol_instance_id"):
            setattr(attributes, field, name)
        elif field == "request":
            attributes.request.meta.update_id = name
        elif field == "meta":
            attributes.meta.update_id = name
        elif field == "timeout_type":
            attributes.timeout_type = draw(st.sampled_from(TimeoutType.values()), label="time-out")
    return event


def is_legal(state, event):
    core, kind = state.core, event.event_type
    if kind in UNKNOWN_TYPES or core.closed_at:
        return False
    if bool(core.status) == (kind == T.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED):
        return False
    if event.event_id == BUFFERED_EVENT_ID:
        if kind in NEVER_BUFFERED:
            return False
    elif event.event_id != core.next_event_id:
        return False
    attributes = getattr(event, field_of(kind))
    rule = RULES.get(kind)
    return rule is None or rule(state, attributes)


def task_is(state, attributes, *, started):
    task = state.core.workflow_task
    return (
        task is not None
        and task.scheduled_event_id == attributes.scheduled_event_id
        and bool(task.started_event_id) == started
    )


def activity_pending(state, attributes):
    return attributes.scheduled_event_id in state.activities


def child_is(state, attributes, *, started):
    child = state.children.get(attributes.initiated_event_id)
    return child is not None and bool(child.started_event_id) == started


def update_stage(state, update_id):
    info = state.updates.get(update_id)
    return None if info is None else info.stage


RULES = {
    T.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED: lambda s, a: not s.core.cancel_requested,
    T.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED: lambda s, a: s.core.workflow_task is None,
    T.EVENT_TYPE_WORKFLOW_TASK_STARTED: lambda s, a: task_is(s, a, started=False),
    T.EVENT_TYPE_WORKFLOW_TASK_COMPLETED: lambda s, a: task_is(s, a, started=True),
    T.EVENT_TYPE_WORKFLOW_TASK_FAILED: lambda s, a: task_is(s, a, started=True),
    T.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT: lambda s, a: task_is(
        s, a, started=a.timeout_type != TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START
    ),
    T.EVENT_TYPE_ACTIVITY_TASK_STARTED: lambda s, a: (
        activity_pending(s, a) and not s.activities.get(a.scheduled_event_id).started_event_id
    ),
    T.EVENT_TYPE_ACTIVITY_TASK_COMPLETED: activity_pending,
    T.EVENT_TYPE_ACTIVITY_TASK_FAILED: activity_pending,
    T.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT: activity_pending,
    T.EVENT_TYPE_ACTIVITY_TASK_CANCELED: activity_pending,
    T.EVENT_TYPE_TIMER_FIRED: lambda s, a: a.timer_id in s.timers,
    T.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_FAILED: lambda s, a: child_is(s, a, started=False),
    T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED: lambda s, a: child_is(s, a, started=False),
    T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED: lambda s, a: child_is(s, a, started=True),
    T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED: lambda s, a: child_is(s, a, started=True),
    T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED: lambda s, a: child_is(s, a, started=True),
    T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TIMED_OUT: lambda s, a: child_is(s, a, started=True),
    T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED: lambda s, a: child_is(s, a, started=True),
    T.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED: lambda s, a: a.initiated_event_id in s.signals,
    T.EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_SIGNALED: lambda s, a: a.initiated_event_id in s.signals,
    T.EVENT_TYPE_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_FAILED: lambda s, a: (
        a.initiated_event_id in s.cancels
    ),
    T.EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_CANCEL_REQUESTED: lambda s, a: a.initiated_event_id in s.cancels,
    T.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ADMITTED: lambda s, a: a.request.meta.update_id not in s.updates,
    T.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED: lambda s, a: (
        update_stage(s, a.protocol_instance_id) in (None, UpdateStage.ADMITTED, UpdateStage.SENT)
    ),
    T.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED: lambda s, a: (
        update_stage(s, a.meta.update_id) == UpdateStage.ACCEPTED
    ),
}


@pytest.mark.parametrize("name", STATES)
@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_an_illegal_event_raises_and_changes_nothing(name, data):
    state = states()[name]
    event = data.draw(events(state))
    fork = state.fork()
    before = snapshot(fork)
    if is_legal(state, event):
        replay.apply(fork, event)
    else:
        with pytest.raises(IllegalTransition):
            replay.apply(fork, event)
        assert snapshot(fork) == before
    assert snapshot(state.fork()) == before


def test_a_closing_event_is_the_last_one():
    """Every event type after every closing one."""
    for closing in (t for t in replay.APPLY if T.Name(t).startswith("EVENT_TYPE_WORKFLOW_EXECUTION_")):
        state = states()["busy"].fork()
        event = HistoryEvent(event_id=state.core.next_event_id, event_type=closing)
        event.event_time.FromNanoseconds(1_700_000_001 * SECOND)
        if not is_legal(state, event) or closing not in CLOSING:
            continue
        replay.apply(state, event)
        before = snapshot(state)
        for later in replay.APPLY:
            with pytest.raises(IllegalTransition, match="nothing follows"):
                replay.apply(state, HistoryEvent(event_id=state.core.next_event_id, event_type=later))
        assert snapshot(state) == before


CLOSING = (
    T.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
    T.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
    T.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
    T.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
    T.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
    T.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW,
)
