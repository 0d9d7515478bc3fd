"""The life of an activity on a transition: start, heartbeat, complete, fail or retry, time out, cancel.

The started event is written together with the event that ends the activity (so retries leave no events), which is why
it is always the attempt that ends it that the history shows.
"""

from dataclasses import dataclass

from msgspec.structs import replace
from temporalio.api.common.v1 import Payloads, WorkerVersionStamp
from temporalio.api.enums.v1 import EventType, RetryState, TimeoutType
from temporalio.api.failure.v1 import ApplicationFailureInfo, Failure, TimeoutFailureInfo
from temporalio.api.history.v1 import (
    ActivityTaskCanceledEventAttributes,
    ActivityTaskCompletedEventAttributes,
    ActivityTaskFailedEventAttributes,
    ActivityTaskStartedEventAttributes,
    ActivityTaskTimedOutEventAttributes,
)

from durable_core.engine.transition import Transition
from durable_core.engine.workflow_tasks import Claim
from durable_core.machines import activity
from durable_core.model import retry
from durable_core.model.errors import NotFound
from durable_core.model.ids import QueueKind
from durable_core.model.state import ActivityInfo
from durable_core.model.tasks import ActivityTask
from durable_core.model.times import nanos

_TIMEOUT_NAMES: dict[int, str] = {
    TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE: "StartToClose",
    TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START: "ScheduleToStart",
    TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE: "ScheduleToClose",
    TimeoutType.TIMEOUT_TYPE_HEARTBEAT: "Heartbeat",
}
NOT_RUNNING = "invalid activityID or activity already timed out or invoking workflow is completed"
_NOT_ENOUGH_TIME = (
    "Not enough time to schedule next retry before activity ScheduleToClose timeout, giving up retrying"
)


@dataclass(frozen=True, slots=True)
class Answerer:
    """Who answers an attempt."""

    identity: str
    version: WorkerVersionStamp | None = None


def dispatch(t: Transition, info: ActivityInfo) -> None:
    """Send the current attempt to its queue."""
    task = ActivityTask(info.scheduled_event_id, info.attempt, info.stamp)
    t.task(info.queue, QueueKind.ACTIVITY, task)


def put(t: Transition, info: ActivityInfo) -> None:
    t.state.activities.put(info.scheduled_event_id, info)
    t.is_dirty = True


def started(t: Transition, scheduled_event_id: int, attempt: int) -> ActivityInfo:
    """The running attempt that a token names; `NotFound` when it is over or was never taken."""
    info = t.state.activities.get(scheduled_event_id) if t.state.is_open else None
    if info is None or not info.started_at or info.attempt != attempt:
        raise NotFound(NOT_RUNNING)
    return info


def start_unseen(t: Transition, info: ActivityInfo, identity: str) -> ActivityInfo:
    """Somebody answers an activity by its ID before any worker took it."""
    return replace(info, started_at=t.now, identity=identity)


def start(t: Transition, info: ActivityInfo, claim: Claim) -> ActivityInfo:
    """A worker takes the attempt."""
    begun = activity.begin_attempt(info, t.now, claim.request_id, claim.identity)
    put(t, begun)
    return begun


def _write_started(t: Transition, info: ActivityInfo, version: WorkerVersionStamp | None = None) -> int:
    """Write the started event that is due when an attempt ends the activity; returns its ID (0: it never started).

    `version` is that of the worker which answered, as on the Temporal server.
    """
    if not info.started_at:
        return 0
    event = t.add(
        EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED,
        at=info.started_at,
        activity_task_started_event_attributes=ActivityTaskStartedEventAttributes(
            scheduled_event_id=info.scheduled_event_id,
            identity=info.identity,
            request_id=info.request_id,
            attempt=info.attempt,
            last_failure=Failure.FromString(info.last_failure) if info.last_failure else None,
            worker_version=version,
        ),
    )
    return event.event_id


def complete(t: Transition, info: ActivityInfo, result: Payloads | None, answerer: Answerer) -> None:
    started_event_id = _write_started(t, info, answerer.version)
    t.add(
        EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
        activity_task_completed_event_attributes=ActivityTaskCompletedEventAttributes(
            result=result,
            scheduled_event_id=info.scheduled_event_id,
            started_event_id=started_event_id,
            identity=answerer.identity,
        ),
    )
    t.wants_workflow_task = True


def cancel(
    t: Transition, info: ActivityInfo, details: Payloads | None, answerer: Answerer, requested_event_id: int
) -> None:
    started_event_id = _write_started(t, info, answerer.version)
    t.add(
        EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED,
        activity_task_canceled_event_attributes=ActivityTaskCanceledEventAttributes(
            details=details,
            latest_cancel_requested_event_id=requested_event_id,
            scheduled_event_id=info.scheduled_event_id,
            started_event_id=started_event_id,
            identity=answerer.identity,
        ),
    )
    t.wants_workflow_task = True


def heartbeat(t: Transition, info: ActivityInfo, details: bytes) -> ActivityInfo:
    beaten = activity.heartbeat(info, t.now, details)
    put(t, beaten)
    return beaten


def fail(t: Transition, info: ActivityInfo, failure: Failure, answerer: Answerer) -> None:
    """The attempt failed: another one follows after its back-off, or the activity ends."""
    state = _retry(t, info, failure)
    if state is None:
        return
    started_event_id = _write_started(t, info, answerer.version)
    t.add(
        EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED,
        activity_task_failed_event_attributes=ActivityTaskFailedEventAttributes(
            failure=failure,
            scheduled_event_id=info.scheduled_event_id,
            started_event_id=started_event_id,
            identity=answerer.identity,
            retry_state=state,
        ),
    )
    t.wants_workflow_task = True


def _retry(t: Transition, info: ActivityInfo, failure: Failure) -> "RetryState.ValueType | None":
    """Let another attempt follow (None), or say why there is none."""
    if info.cancel_requested:
        return RetryState.RETRY_STATE_CANCEL_REQUESTED
    expires_at = info.scheduled_at + info.schedule_to_close if info.schedule_to_close else 0
    delay = 0
    if failure.HasField("application_failure_info"):
        delay = _next_delay(failure.application_failure_info)
    verdict = retry.decide(info.retry, info.attempt, failure, t.now, expires_at, delay)
    if verdict.delay is None:
        return verdict.state
    timed_out = failure.HasField("timeout_failure_info")
    put(t, activity.back_off(info, t.now, verdict.delay, failure.SerializeToString(), timed_out=timed_out))
    return None


def _next_delay(info: ApplicationFailureInfo) -> int:
    return nanos(info.next_retry_delay)


def time_out(t: Transition, info: ActivityInfo, timeout_type: "TimeoutType.ValueType") -> None:
    """A time-out is over: the attempt is retried where the policy allows it, else the activity ends."""
    failure = Failure(
        message=f"activity {_TIMEOUT_NAMES[timeout_type]} timeout",
        source="Server",
        timeout_failure_info=TimeoutFailureInfo(timeout_type=timeout_type),
    )
    state = RetryState.RETRY_STATE_TIMEOUT
    if timeout_type in (TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE, TimeoutType.TIMEOUT_TYPE_HEARTBEAT):
        refused = _retry(t, info, failure)
        if refused is None:
            return
        state = refused
    elif timeout_type == TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE:
        failure.message = _NOT_ENOUGH_TIME if info.started_at or info.attempt > 1 else failure.message
    end_timed_out(t, info, failure, state)


def end_timed_out(t: Transition, info: ActivityInfo, failure: Failure, state: "RetryState.ValueType") -> None:
    """Write the ending: what the last attempt failed of is the cause, its heartbeat is in the details."""
    if info.heartbeat_details:
        details = Payloads.FromString(info.heartbeat_details)
        failure.timeout_failure_info.last_heartbeat_details.CopyFrom(details)
    if info.last_failure:
        failure.cause.ParseFromString(info.last_failure)
    started_event_id = _write_started(t, info)
    t.add(
        EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT,
        activity_task_timed_out_event_attributes=ActivityTaskTimedOutEventAttributes(
            failure=failure,
            scheduled_event_id=info.scheduled_event_id,
            started_event_id=started_event_id,
            retry_state=state,
        ),
    )
    t.wants_workflow_task = True


def redispatch(t: Transition, info: ActivityInfo) -> None:
    """The back-off is over: the next attempt goes to its queue."""
    due = replace(info, dispatched=True)
    put(t, due)
    dispatch(t, due)
