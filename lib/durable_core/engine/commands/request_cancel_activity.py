"""REQUEST_CANCEL_ACTIVITY_TASK: an activity that has not started is cancelled at once, a running one is told."""

from temporalio.api.command.v1 import Command
from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import ActivityTaskCancelRequestedEventAttributes, HistoryEvent

from durable_core.engine import activities, buffering
from durable_core.engine.activities import Answerer
from durable_core.engine.completion import BadCommand, Completion, require_attributes
from durable_core.engine.transition import Transition
from durable_core.model.payloads import text

_BAD = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_BAD_REQUEST_CANCEL_ACTIVITY_ATTRIBUTES


def handle(completion: Completion, command: Command) -> HistoryEvent:
    require_attributes(command, "request_cancel_activity_task_command_attributes", _BAD)
    scheduled = command.request_cancel_activity_task_command_attributes.scheduled_event_id
    t = completion.t
    if scheduled <= 0:
        raise BadCommand(_BAD, "ScheduledEventId is not set on RequestCancelActivityTaskCommand.")
    info = t.state.activities.get(scheduled)
    if info.cancel_requested if info is not None else not _ended_meanwhile(t, scheduled):
        raise BadCommand(
            _BAD,
            "invalid history builder state for action: add-activitytask-cancel-requested-event, "
            f"ScheduledEventID: {scheduled}",
        )
    event = t.add(
        EventType.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED,
        command=command,
        activity_task_cancel_requested_event_attributes=ActivityTaskCancelRequestedEventAttributes(
            scheduled_event_id=scheduled,
            workflow_task_completed_event_id=completion.completed_event_id,
        ),
    )
    if info is not None and not info.started_at:
        details = text("ACTIVITY_ID_NOT_STARTED")
        activities.cancel(t, info, details, Answerer(completion.identity), event.event_id)
        completion.wants_workflow_task = True
    return event


def _ended_meanwhile(t: Transition, scheduled: int) -> bool:
    """Whether the activity ended while the worker decided: its end waits in the buffer, so nobody could know."""
    return any(buffering.ended_activity(event) == scheduled for _, event in t.buffered_events())
