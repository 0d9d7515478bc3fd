"""CANCEL_TIMER."""

from temporalio.api.command.v1 import Command
from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent, TimerCanceledEventAttributes

from durable_core.engine import checks
from durable_core.engine.completion import BadCommand, Completion, require_attributes
from durable_core.model import limits

_BAD = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_BAD_CANCEL_TIMER_ATTRIBUTES


def handle(completion: Completion, command: Command) -> HistoryEvent:
    require_attributes(command, "cancel_timer_command_attributes", _BAD)
    timer_id = command.cancel_timer_command_attributes.timer_id
    if not timer_id:
        raise BadCommand(_BAD, "TimerId is not set on CancelTimerCommand.")
    if checks.too_long(timer_id):
        detail = f"TimerId={timer_id} Length={len(timer_id)} Limit={limits.id_length_max}"
        raise BadCommand(_BAD, f"TimerId on CancelTimerCommand exceeds length limit. {detail}")
    return completion.t.add(
        EventType.EVENT_TYPE_TIMER_CANCELED,
        command=command,
        timer_canceled_event_attributes=TimerCanceledEventAttributes(
            timer_id=timer_id,
            started_event_id=_started_event_id(completion, timer_id),
            workflow_task_completed_event_id=completion.completed_event_id,
            identity=completion.identity,
        ),
    )


def _started_event_id(completion: Completion, timer_id: str) -> int:
    """Where the timer started. A timer that fired while the worker decided is taken back from the buffer."""
    t = completion.t
    timer = t.state.timers.get(timer_id)
    if timer is not None:
        return timer.started_event_id
    for place, event in t.buffered_events():
        fired = event.timer_fired_event_attributes
        if event.event_type == EventType.EVENT_TYPE_TIMER_FIRED and fired.timer_id == timer_id:
            t.drop_buffered(place)
            completion.event_waits = completion.event_waits and t.has_buffered
            return fired.started_event_id
    raise BadCommand(
        _BAD, f"invalid history builder state for action: add-timer-canceled-event, TimerID: {timer_id}"
    )
