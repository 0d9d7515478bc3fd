"""START_TIMER."""

from temporalio.api.command.v1 import Command
from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent, TimerStartedEventAttributes

from durable_core.engine import checks
from durable_core.engine.completion import BadCommand, Completion, require_attributes
from durable_core.model import limits
from durable_core.model.errors import InvalidArgument
from durable_core.model.times import duration

_BAD = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_BAD_START_TIMER_ATTRIBUTES
_DUPLICATE = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_START_TIMER_DUPLICATE_ID


def handle(completion: Completion, command: Command) -> HistoryEvent:
    require_attributes(command, "start_timer_command_attributes", _BAD)
    attributes = command.start_timer_command_attributes
    timer_id = attributes.timer_id
    if not timer_id:
        raise BadCommand(_BAD, "TimerId is not set on StartTimerCommand.")
    if checks.too_long(timer_id):
        detail = f"TimerId={timer_id} Length={len(timer_id)} Limit={limits.id_length_max}"
        raise BadCommand(_BAD, f"TimerId on StartTimerCommand exceeds length limit. {detail}")
    try:
        timeout = checks.valid_duration(attributes.start_to_fire_timeout)
    except InvalidArgument as error:
        raise BadCommand(
            _BAD, f"An invalid StartToFireTimeout is set on StartTimerCommand: {error}. TimerId={timer_id}"
        ) from error
    if timer_id in completion.t.state.timers:
        raise BadCommand(
            _DUPLICATE,
            f"invalid history builder state for action: add-timer-started-event, TimerID: {timer_id}",
        )
    return completion.t.add(
        EventType.EVENT_TYPE_TIMER_STARTED,
        command=command,
        timer_started_event_attributes=TimerStartedEventAttributes(
            timer_id=timer_id,
            start_to_fire_timeout=duration(timeout),
            workflow_task_completed_event_id=completion.completed_event_id,
        ),
    )
