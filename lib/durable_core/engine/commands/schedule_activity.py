"""SCHEDULE_ACTIVITY_TASK, eager activities included."""

from google.protobuf.duration_pb2 import Duration
from temporalio.api.command.v1 import Command, ScheduleActivityTaskCommandAttributes
from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import ActivityTaskScheduledEventAttributes, HistoryEvent

from durable_core.engine import activities, checks
from durable_core.engine.completion import BadCommand, Completion, check_size, require_attributes
from durable_core.machines import activity
from durable_core.model import limits, retry
from durable_core.model.errors import InvalidArgument
from durable_core.model.times import duration

_Cause = WorkflowTaskFailedCause
_BAD = _Cause.WORKFLOW_TASK_FAILED_CAUSE_BAD_SCHEDULE_ACTIVITY_ATTRIBUTES


def handle(completion: Completion, command: Command) -> HistoryEvent:
    require_attributes(command, "schedule_activity_task_command_attributes", _BAD)
    attributes = command.schedule_activity_task_command_attributes
    t = completion.t
    try:
        scheduled = _normalized(attributes, t.state.core.run_timeout)
    except InvalidArgument as error:
        raise BadCommand(_BAD, error.message) from error
    check_size(attributes.input.ByteSize(), "ScheduleActivityTaskCommandAttributes.Input", _BAD)
    if len(t.state.activities) >= limits.pending_activities_max:
        raise BadCommand(
            _Cause.WORKFLOW_TASK_FAILED_CAUSE_PENDING_ACTIVITIES_LIMIT_EXCEEDED,
            f"the number of pending activities, {len(t.state.activities)}, has reached the per-workflow limit of "
            f"{limits.pending_activities_max}",
        )
    if activity.by_id(t.state, attributes.activity_id) is not None:
        raise BadCommand(
            _Cause.WORKFLOW_TASK_FAILED_CAUSE_SCHEDULE_ACTIVITY_DUPLICATE_ID,
            "invalid history builder state for action: add-activitytask-scheduled-event, "
            f"ActivityID: {attributes.activity_id}",
        )
    scheduled.workflow_task_completed_event_id = completion.completed_event_id
    event = t.add(
        EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
        command=command,
        activity_task_scheduled_event_attributes=scheduled,
    )
    if attributes.request_eager_execution:
        completion.eager.append(event.event_id)
    else:
        info = t.state.activities.get(event.event_id)
        assert info is not None
        activities.dispatch(t, info)
    return event


def _normalized(
    attributes: ScheduleActivityTaskCommandAttributes, run_timeout: int
) -> ActivityTaskScheduledEventAttributes:
    """The event's attributes with time-outs and retry policy filled in and bounded by each other and the run's."""
    if not attributes.activity_id:
        raise InvalidArgument("activityId is not set")
    if not attributes.activity_type.name:
        raise InvalidArgument("activityType is not set")
    queue = checks.normalized_queue(attributes.task_queue, "")
    for name, value in (
        ("activityId", attributes.activity_id),
        ("activityType", attributes.activity_type.name),
    ):
        if checks.too_long(value):
            raise InvalidArgument(
                f"{name} exceeds length limit. Length={len(value)} Limit={limits.id_length_max}"
            )
    policy = retry.with_defaults(
        attributes.retry_policy,
        limits.activity_retry_initial_interval,
        limits.activity_retry_coefficient,
        limits.activity_retry_interval_factor,
    )
    retry.validate(policy)
    checks.check_priority(attributes.priority)
    to_close, to_start, start_to_close, beat = _time_outs(attributes, run_timeout)
    return ActivityTaskScheduledEventAttributes(
        activity_id=attributes.activity_id,
        activity_type=attributes.activity_type,
        task_queue=queue,
        header=attributes.header if attributes.HasField("header") else None,
        input=attributes.input if attributes.HasField("input") else None,
        schedule_to_close_timeout=duration(to_close),
        schedule_to_start_timeout=duration(to_start),
        start_to_close_timeout=duration(start_to_close),
        heartbeat_timeout=duration(beat),
        retry_policy=policy,
        use_workflow_build_id=attributes.use_workflow_build_id,
        priority=attributes.priority if attributes.HasField("priority") else None,
    )


def _checked(name: str, value: Duration) -> int:
    try:
        return checks.valid_duration(value)
    except InvalidArgument as error:
        raise InvalidArgument(f"invalid {name}: {error}") from error


def _time_outs(
    attributes: ScheduleActivityTaskCommandAttributes, run_timeout: int
) -> tuple[int, int, int, int]:
    """Schedule-to-close, schedule-to-start, start-to-close and heartbeat time-outs in ns; 0: none."""
    to_close = _checked("ScheduleToCloseTimeout", attributes.schedule_to_close_timeout)
    to_start = _checked("ScheduleToStartTimeout", attributes.schedule_to_start_timeout)
    start_to_close = _checked("StartToCloseTimeout", attributes.start_to_close_timeout)
    beat = _checked("HeartbeatTimeout", attributes.heartbeat_timeout)
    if to_close:
        to_start = min(to_start or to_close, to_close)
        start_to_close = min(start_to_close or to_close, to_close)
    elif start_to_close:
        to_close = run_timeout
        to_start = to_start or run_timeout
    else:
        raise InvalidArgument(
            "a valid StartToCloseTimeout or ScheduleToCloseTimeout must be set on the activity. "
            f"ActivityId={attributes.activity_id} ActivityType={attributes.activity_type.name}"
        )
    if run_timeout:
        to_close, to_start = min(to_close, run_timeout), min(to_start, run_timeout)
        start_to_close, beat = min(start_to_close, run_timeout), min(beat, run_timeout)
    return to_close, to_start, start_to_close, min(beat, start_to_close)
