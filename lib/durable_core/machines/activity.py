"""An activity: scheduled by a command, tried until it ends, ended by exactly one event.

    state        event                          next
    -----------  -----------------------------  ---------
    -            ActivityTaskScheduled          pending
    pending      ActivityTaskCancelRequested    pending    (cancel requested)
    pending      ActivityTaskStarted            pending    once, written together with the event that ends it
    pending      ActivityTaskCompleted          ended
    pending      ActivityTaskFailed             ended
    pending      ActivityTaskTimedOut           ended
    pending      ActivityTaskCanceled           ended

What happens between the scheduled and the ending event (attempts, starts, heartbeats, back-off) is not in the history,
as on Temporal: `begin_attempt`, `heartbeat` and `back_off` are the owners of those facts.
"""

from msgspec.structs import replace
from temporalio.api.enums.v1 import EventType, TimeoutType
from temporalio.api.history.v1 import HistoryEvent

from durable_core.model import retry
from durable_core.model.errors import IllegalTransition
from durable_core.model.state import ActivityInfo, RunState
from durable_core.model.times import nanos

# A deadline is asked of each activity at each wake-up, and a look-up in the enumeration costs more than the rest of it.
_START_TO_CLOSE = TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE
_SCHEDULE_TO_START = TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START
_SCHEDULE_TO_CLOSE = TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE
_HEARTBEAT = TimeoutType.TIMEOUT_TYPE_HEARTBEAT


def pending(state: RunState, scheduled_event_id: int) -> ActivityInfo:
    info = state.activities.get(scheduled_event_id)
    if info is None:
        raise IllegalTransition(f"activity {scheduled_event_id} is not pending")
    return info


def by_id(state: RunState, activity_id: str) -> ActivityInfo | None:
    """The pending activity that the workflow calls `activity_id`."""
    for info in state.activities.values():
        if info.activity_id == activity_id:
            return info
    return None


def begin_attempt(info: ActivityInfo, now: int, request_id: str, identity: str) -> ActivityInfo:
    """A worker took the attempt."""
    return replace(info, started_at=now, request_id=request_id, identity=identity)


def heartbeat(info: ActivityInfo, now: int, details: bytes) -> ActivityInfo:
    """Sign of life; its details outlive the attempt."""
    return replace(info, heartbeat_at=now, heartbeat_details=details)


def back_off(info: ActivityInfo, now: int, delay: int, failure: bytes, *, timed_out: bool) -> ActivityInfo:
    """The attempt failed and the next one is due in `delay` ns. Messages of the old attempt no longer count."""
    return replace(
        info,
        attempt=info.attempt + 1,
        stamp=info.stamp + 1,
        attempt_scheduled_at=now + delay,
        dispatched=False,
        started_at=0,
        request_id="",
        identity="",
        heartbeat_at=0,
        last_failure=failure,
        last_identity=info.identity,
        last_completed_at=0 if timed_out else now,
        last_ended_at=now,
    )


def deadline(info: ActivityInfo) -> tuple[int, "TimeoutType.ValueType | None"]:
    """When something is due for this activity, and which time-out it is; None: the next attempt's dispatch. 0: never.

    Of two that are due together the first of this order counts, as on the Temporal server.
    """
    due, kind = 0, None
    if not info.dispatched:
        due = info.attempt_scheduled_at
    elif info.started_at:
        if info.start_to_close:
            due, kind = info.started_at + info.start_to_close, _START_TO_CLOSE
    elif info.schedule_to_start:
        due, kind = info.attempt_scheduled_at + info.schedule_to_start, _SCHEDULE_TO_START
    if info.schedule_to_close:
        at = info.scheduled_at + info.schedule_to_close
        if not due or at < due:
            due, kind = at, _SCHEDULE_TO_CLOSE
    if info.started_at and info.heartbeat_timeout:
        at = max(info.heartbeat_at, info.started_at) + info.heartbeat_timeout
        if not due or at < due:
            due, kind = at, _HEARTBEAT
    return due, kind


def apply_scheduled(state: RunState, event: HistoryEvent) -> None:
    attributes = event.activity_task_scheduled_event_attributes
    if event.event_id in state.activities:
        raise IllegalTransition(f"activity {event.event_id} is scheduled already")
    at = nanos(event.event_time)
    state.activities.put(
        event.event_id,
        ActivityInfo(
            scheduled_event_id=event.event_id,
            activity_id=attributes.activity_id,
            activity_type=attributes.activity_type.name,
            queue=attributes.task_queue.name,
            scheduled_at=at,
            schedule_to_close=nanos(attributes.schedule_to_close_timeout),
            schedule_to_start=nanos(attributes.schedule_to_start_timeout),
            start_to_close=nanos(attributes.start_to_close_timeout),
            heartbeat_timeout=nanos(attributes.heartbeat_timeout),
            retry=retry.parsed(attributes.retry_policy) if attributes.HasField("retry_policy") else None,
            attempt_scheduled_at=at,
            priority=attributes.priority.SerializeToString(),
        ),
    )


def apply_cancel_requested(state: RunState, event: HistoryEvent) -> None:
    attributes = event.activity_task_cancel_requested_event_attributes
    info = state.activities.get(attributes.scheduled_event_id)
    if info is None:
        return  # It ended meanwhile; the request is recorded and means nothing.
    state.activities.put(
        attributes.scheduled_event_id,
        replace(info, cancel_requested=True, cancel_requested_event_id=event.event_id),
    )


def apply_started(state: RunState, event: HistoryEvent) -> None:
    attributes = event.activity_task_started_event_attributes
    info = pending(state, attributes.scheduled_event_id)
    if info.started_event_id:
        raise IllegalTransition(f"activity {attributes.scheduled_event_id} is started already")
    state.activities.put(
        attributes.scheduled_event_id,
        replace(
            info,
            started_event_id=event.event_id,
            started_at=nanos(event.event_time),
            attempt=attributes.attempt,
            request_id=attributes.request_id,
            identity=attributes.identity,
        ),
    )


def _end(state: RunState, scheduled_event_id: int) -> None:
    pending(state, scheduled_event_id)
    state.activities.remove(scheduled_event_id)


def apply_completed(state: RunState, event: HistoryEvent) -> None:
    _end(state, event.activity_task_completed_event_attributes.scheduled_event_id)


def apply_failed(state: RunState, event: HistoryEvent) -> None:
    _end(state, event.activity_task_failed_event_attributes.scheduled_event_id)


def apply_timed_out(state: RunState, event: HistoryEvent) -> None:
    _end(state, event.activity_task_timed_out_event_attributes.scheduled_event_id)


def apply_canceled(state: RunState, event: HistoryEvent) -> None:
    _end(state, event.activity_task_canceled_event_attributes.scheduled_event_id)


APPLY = {
    EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED: apply_scheduled,
    EventType.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED: apply_cancel_requested,
    EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED: apply_started,
    EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED: apply_completed,
    EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED: apply_failed,
    EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT: apply_timed_out,
    EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED: apply_canceled,
}
