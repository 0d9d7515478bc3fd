"""Rules that a history must obey whatever was sent: order, references, endings, timers.

What does not live here: rules that compare a history with what the driver knows (acknowledged.py).
A newcomer's mistake: to expect an event for every attempt. Most attempts leave none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

from google.protobuf.message import Message
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent

CLOSING_EVENTS = frozenset(
    {
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW,
    }
)
TASK_ENDS = frozenset(
    {
        EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
        EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED,
        EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT,
    }
)
ACTIVITY_ENDS = frozenset(
    {
        EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
        EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED,
        EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT,
        EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED,
    }
)
TIMER_ENDS = frozenset({EventType.EVENT_TYPE_TIMER_FIRED, EventType.EVENT_TYPE_TIMER_CANCELED})
# For each event that starts or ends something: the fields that refer back, with the type of event that they refer to.
REFERENCES: dict[int, dict[str, EventType.ValueType]] = {
    EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED: {
        "scheduled_event_id": EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED
    },
    EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED: {
        "scheduled_event_id": EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    },
    **{
        kind: {
            "scheduled_event_id": EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
            "started_event_id": EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED,
        }
        for kind in TASK_ENDS
    },
    **{
        kind: {
            "scheduled_event_id": EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
            "started_event_id": EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED,
        }
        for kind in ACTIVITY_ENDS
    },
    **{kind: {"started_event_id": EventType.EVENT_TYPE_TIMER_STARTED} for kind in TIMER_ENDS},
}


def attributes_of(event: HistoryEvent) -> Message:
    """Return the one attributes message that an event carries."""
    name = event.WhichOneof("attributes")
    attributes: Message = getattr(event, name) if name else event
    return attributes


def check_structure(history: Sequence[HistoryEvent]) -> Iterator[str]:
    """Yield what is wrong with one history in itself."""
    for rule in RULES:
        yield from rule(history)


def _ids_run_without_gap(history: Sequence[HistoryEvent]) -> Iterator[str]:
    ids = [event.event_id for event in history]
    if ids != list(range(1, len(ids) + 1)):
        yield f"event IDs are not 1..{len(ids)}: {ids}"


def _begins_with_started(history: Sequence[HistoryEvent]) -> Iterator[str]:
    starts = [
        event.event_id
        for event in history
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED
    ]
    if starts != [1]:
        yield f"the run starts at events {starts} instead of [1]"


def _ends_once(history: Sequence[HistoryEvent]) -> Iterator[str]:
    closing = [event.event_id for event in history if event.event_type in CLOSING_EVENTS]
    if not closing:
        yield "the run never closes"
    elif len(closing) > 1 or closing[0] != history[-1].event_id:
        yield f"closing events {closing}, but the last event is {history[-1].event_id}"


def _references_go_back(history: Sequence[HistoryEvent]) -> Iterator[str]:
    """What ends refers to what started, and what started to what was scheduled, each of them earlier."""
    types = {event.event_id: event.event_type for event in history}
    for event in history:
        attributes = attributes_of(event)
        for name, wanted in REFERENCES.get(event.event_type, {}).items():
            target = getattr(attributes, name)
            if target == 0 and name == "started_event_id":
                continue
            if target >= event.event_id or types.get(target) != wanted:
                yield f"event {event.event_id}: {name} {target} is no earlier {EventType.Name(wanted)}"
        cause = getattr(attributes, "workflow_task_completed_event_id", 0)
        if cause and types.get(cause) != EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
            yield f"event {event.event_id}: event {cause} is no completed workflow task"
        if cause >= event.event_id:
            yield f"event {event.event_id}: refers to the later completion {cause}"


def _workflow_tasks_end_once(history: Sequence[HistoryEvent]) -> Iterator[str]:
    scheduled = _of_types(history, {EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED})
    ends = Counter(_referred(event, "scheduled_event_id") for event in _of_types(history, TASK_ENDS))
    starts = Counter(
        _referred(event, "scheduled_event_id")
        for event in _of_types(history, {EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED})
    )
    for event in scheduled:
        if ends[event.event_id] != 1:
            yield f"workflow task {event.event_id} has {ends[event.event_id]} ends"
        if starts[event.event_id] > 1:
            yield f"workflow task {event.event_id} has {starts[event.event_id]} starts"


def _one_workflow_task_at_a_time(history: Sequence[HistoryEvent]) -> Iterator[str]:
    open_task = 0
    for event in history:
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED:
            if open_task:
                yield f"workflow task {event.event_id} is scheduled while {open_task} is open"
            open_task = event.event_id
        elif event.event_type in TASK_ENDS:
            open_task = 0


def _activities_end_once(history: Sequence[HistoryEvent]) -> Iterator[str]:
    """An activity ends once; one that is still open when its run closes does not end at all."""
    ends = Counter(_referred(event, "scheduled_event_id") for event in _of_types(history, ACTIVITY_ENDS))
    started = _of_types(history, {EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED})
    starts = Counter(_referred(event, "scheduled_event_id") for event in started)
    names = Counter[str]()
    for event in _of_types(history, {EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED}):
        names[event.activity_task_scheduled_event_attributes.activity_id] += 1
        for word, count in (("ends", ends[event.event_id]), ("starts", starts[event.event_id])):
            if count > 1:
                yield f"activity {event.event_id} has {count} {word}"
    yield from (
        f"activity ID {name} was scheduled {count} times" for name, count in names.items() if count > 1
    )


def _timers_end_once_and_never_early(history: Sequence[HistoryEvent]) -> Iterator[str]:
    ends: dict[int, list[HistoryEvent]] = {}
    for event in _of_types(history, TIMER_ENDS):
        ends.setdefault(_referred(event, "started_event_id"), []).append(event)
    for event in _of_types(history, {EventType.EVENT_TYPE_TIMER_STARTED}):
        found = ends.get(event.event_id, [])
        if len(found) > 1:
            yield f"timer {event.event_id} has {len(found)} ends"
        duration = event.timer_started_event_attributes.start_to_fire_timeout.ToTimedelta()
        for end in found:
            if end.event_type == EventType.EVENT_TYPE_TIMER_FIRED and _between(event, end) < duration:
                yield f"timer {event.event_id} of {duration} fired after {_between(event, end)}"


def _between(first: HistoryEvent, second: HistoryEvent) -> timedelta:
    return second.event_time.ToDatetime() - first.event_time.ToDatetime()


def _of_types(history: Sequence[HistoryEvent], types: frozenset[int] | set[int]) -> list[HistoryEvent]:
    return [event for event in history if event.event_type in types]


def _referred(event: HistoryEvent, name: str) -> int:
    number: int = getattr(attributes_of(event), name)
    return number


RULES: tuple[Callable[[Sequence[HistoryEvent]], Iterator[str]], ...] = (
    _ids_run_without_gap,
    _begins_with_started,
    _ends_once,
    _references_go_back,
    _workflow_tasks_end_once,
    _one_workflow_task_at_a_time,
    _activities_end_once,
    _timers_end_once_and_never_early,
)
