"""A workflow's history as lines that a person can read.

`render` is a pure function from history events to lines: no client, no clock, no terminal. The three events of a
workflow task become one line when they follow each other, since together they say one thing: the worker looked
and decided.

The one thing a newcomer gets wrong: an activity's started event is written only when its last attempt ends, so
the line "started" stands late in the history and names the last attempt; the attempts before it are no events.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from temporalio.api.common.v1 import Payload, Payloads
from temporalio.api.enums.v1 import EventType, ParentClosePolicy, RetryState, TimeoutType
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import HistoryEvent

_VALUE_CHARACTERS_MAX = 60


@dataclass(frozen=True)
class Mark:
    """A line of the caller's own, put after the event with this ID."""

    after_event_id: int
    text: str


@dataclass
class _Seen:
    """What earlier events said that later ones only refer to."""

    names: dict[int, str] = field(default_factory=dict)
    times: dict[int, float] = field(default_factory=dict)


def render(events: Iterable[HistoryEvent], marks: Sequence[Mark] = ()) -> list[str]:
    """One line per event, or per workflow task, with the time since the first event; marks stand where they belong."""
    ordered = list(events)
    if not ordered:
        return []
    begin = _seconds(ordered[0])
    seen = _Seen()
    lines: list[str] = []
    pending = sorted(marks, key=lambda mark: mark.after_event_id)
    for group in _groups(ordered, {mark.after_event_id for mark in pending}):
        first, last = group[0], group[-1]
        ids = str(first.event_id) if first is last else f"{first.event_id}-{last.event_id}"
        text = _describe(last, seen) if first is last else _workflow_task(group)
        lines.append(f"{ids:>7}  {_seconds(last) - begin:+8.2f} s  {text}")
        while pending and pending[0].after_event_id <= last.event_id:
            lines.append(f"{'':>7}  {'':>8}    --- {pending.pop(0).text} ---")
    return lines


def event_name(event: HistoryEvent) -> str:
    """The event's type in the field's spelling, such as `WorkflowTaskScheduled`."""
    words = EventType.Name(event.event_type).removeprefix("EVENT_TYPE_").split("_")
    return "".join(word.capitalize() for word in words)


def _groups(events: Sequence[HistoryEvent], cuts: set[int]) -> Iterator[list[HistoryEvent]]:
    """Single events, but a workflow task that ran through undisturbed and uncut by a mark as one group of three."""
    task = [
        EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
        EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED,
        EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
    ]
    index = 0
    while index < len(events):
        group = list(events[index : index + 3])
        is_task = [event.event_type for event in group] == task
        if not is_task or any(event.event_id in cuts for event in group[:2]):
            group = group[:1]
        yield group
        index += len(group)


def _workflow_task(group: Sequence[HistoryEvent]) -> str:
    milliseconds = (_seconds(group[-1]) - _seconds(group[0])) * 1000
    return f"workflow task answered in {milliseconds:.0f} ms"


def _describe(event: HistoryEvent, seen: _Seen) -> str:
    seen.times[event.event_id] = _seconds(event)
    teller = _TELLERS.get(event.event_type)
    text = event_name(event) if teller is None else teller(event, seen)
    summary = _value(event.user_metadata.summary)
    return f"{text} ({summary})" if summary else text


def _workflow_started(event: HistoryEvent, seen: _Seen) -> str:
    started = event.workflow_execution_started_event_attributes
    parent = started.parent_workflow_execution.workflow_id
    of_parent = f", child of {parent}" if parent else ""
    return (
        f"workflow {started.workflow_type.name} started on queue {started.task_queue.name}{of_parent}"
        f"{_with(started.input)}"
    )


def _signaled(event: HistoryEvent, seen: _Seen) -> str:
    signaled = event.workflow_execution_signaled_event_attributes
    return f"signal {signaled.signal_name} received{_with(signaled.input)}"


def _activity_scheduled(event: HistoryEvent, seen: _Seen) -> str:
    scheduled = event.activity_task_scheduled_event_attributes
    seen.names[event.event_id] = scheduled.activity_type.name
    return f"activity {scheduled.activity_type.name} scheduled"


def _activity_started(event: HistoryEvent, seen: _Seen) -> str:
    started = event.activity_task_started_event_attributes
    text = f"activity {_name(seen, started.scheduled_event_id)} started, attempt {started.attempt}"
    if started.HasField("last_failure"):
        text += f" (the one before failed: {_failure(started.last_failure)})"
    return text


def _activity_completed(event: HistoryEvent, seen: _Seen) -> str:
    completed = event.activity_task_completed_event_attributes
    return f"activity {_name(seen, completed.scheduled_event_id)} completed{_result(completed.result)}"


def _activity_failed(event: HistoryEvent, seen: _Seen) -> str:
    failed = event.activity_task_failed_event_attributes
    why = _enum(RetryState.Name(failed.retry_state), "RETRY_STATE_")
    return f"activity {_name(seen, failed.scheduled_event_id)} failed ({why}): {_failure(failed.failure)}"


def _activity_timed_out(event: HistoryEvent, seen: _Seen) -> str:
    timed_out = event.activity_task_timed_out_event_attributes
    return f"activity {_name(seen, timed_out.scheduled_event_id)} timed out: {_failure(timed_out.failure)}"


def _timer_started(event: HistoryEvent, seen: _Seen) -> str:
    started = event.timer_started_event_attributes
    seconds = started.start_to_fire_timeout.ToNanoseconds() / 1e9
    return f"timer {started.timer_id} started, {seconds:g} s"


def _timer_fired(event: HistoryEvent, seen: _Seen) -> str:
    fired = event.timer_fired_event_attributes
    after = _seconds(event) - seen.times.get(fired.started_event_id, _seconds(event))
    return f"timer {fired.timer_id} fired after {after:.2f} s"


def _timer_canceled(event: HistoryEvent, seen: _Seen) -> str:
    return f"timer {event.timer_canceled_event_attributes.timer_id} canceled"


def _child_initiated(event: HistoryEvent, seen: _Seen) -> str:
    initiated = event.start_child_workflow_execution_initiated_event_attributes
    policy = _enum(ParentClosePolicy.Name(initiated.parent_close_policy), "PARENT_CLOSE_POLICY_")
    return f"child {initiated.workflow_type.name} initiated as {initiated.workflow_id} (parent close policy: {policy})"


def _child_started(event: HistoryEvent, seen: _Seen) -> str:
    started = event.child_workflow_execution_started_event_attributes
    return f"child {started.workflow_execution.workflow_id} started"


def _child_completed(event: HistoryEvent, seen: _Seen) -> str:
    completed = event.child_workflow_execution_completed_event_attributes
    return f"child {completed.workflow_execution.workflow_id} completed{_result(completed.result)}"


def _child_failed(event: HistoryEvent, seen: _Seen) -> str:
    failed = event.child_workflow_execution_failed_event_attributes
    return f"child {failed.workflow_execution.workflow_id} failed: {_failure(failed.failure)}"


def _workflow_completed(event: HistoryEvent, seen: _Seen) -> str:
    return f"workflow completed{_result(event.workflow_execution_completed_event_attributes.result)}"


def _workflow_failed(event: HistoryEvent, seen: _Seen) -> str:
    return f"workflow failed: {_failure(event.workflow_execution_failed_event_attributes.failure)}"


def _workflow_terminated(event: HistoryEvent, seen: _Seen) -> str:
    return f"workflow terminated: {event.workflow_execution_terminated_event_attributes.reason}"


def _workflow_continued(event: HistoryEvent, seen: _Seen) -> str:
    continued = event.workflow_execution_continued_as_new_event_attributes
    return f"workflow continued as new, run {continued.new_execution_run_id}{_with(continued.input)}"


def _task_failed(event: HistoryEvent, seen: _Seen) -> str:
    return f"workflow task failed: {_failure(event.workflow_task_failed_event_attributes.failure)}"


def _task_timed_out(event: HistoryEvent, seen: _Seen) -> str:
    timeout = TimeoutType.Name(event.workflow_task_timed_out_event_attributes.timeout_type)
    return f"workflow task timed out ({_enum(timeout, 'TIMEOUT_TYPE_')})"


_TELLERS: dict[EventType.ValueType, Callable[[HistoryEvent, _Seen], str]] = {
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED: _workflow_started,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED: _signaled,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED: _workflow_completed,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED: _workflow_failed,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED: _workflow_terminated,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW: _workflow_continued,
    EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED: _task_failed,
    EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT: _task_timed_out,
    EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED: _activity_scheduled,
    EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED: _activity_started,
    EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED: _activity_completed,
    EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED: _activity_failed,
    EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT: _activity_timed_out,
    EventType.EVENT_TYPE_TIMER_STARTED: _timer_started,
    EventType.EVENT_TYPE_TIMER_FIRED: _timer_fired,
    EventType.EVENT_TYPE_TIMER_CANCELED: _timer_canceled,
    EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED: _child_initiated,
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED: _child_started,
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED: _child_completed,
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED: _child_failed,
}


def _seconds(event: HistoryEvent) -> float:
    return event.event_time.ToNanoseconds() / 1e9


def _name(seen: _Seen, scheduled_event_id: int) -> str:
    return seen.names.get(scheduled_event_id, f"of event {scheduled_event_id}")


def _failure(failure: Failure) -> str:
    """The message of the innermost cause: the outer ones only say that something inside them failed."""
    while failure.HasField("cause"):
        failure = failure.cause
    return _shortened(failure.message)


def _with(payloads: Payloads) -> str:
    values = ", ".join(_value(payload) for payload in payloads.payloads)
    return f" with {values}" if values else ""


def _result(payloads: Payloads) -> str:
    values = ", ".join(
        _value(payload) for payload in payloads.payloads if payload.metadata.get("encoding") != b"binary/null"
    )
    return f": {values}" if values else ""


def _value(payload: Payload) -> str:
    """JSON as it stands; what is encoded otherwise (encrypted, compressed) is only measured."""
    if payload.metadata.get("encoding") == b"json/plain":
        return _shortened(_json_text(payload.data))
    return f"{len(payload.data)} bytes" if payload.data else ""


def _json_text(data: bytes) -> str:
    try:
        value = json.loads(data)
    except ValueError:
        return f"{len(data)} bytes"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shortened(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _VALUE_CHARACTERS_MAX else f"{flat[: _VALUE_CHARACTERS_MAX - 3]}..."


def _enum(name: str, prefix: str) -> str:
    return name.removeprefix(prefix).replace("_", " ").lower()
