"""Which events wait while a workflow task is started, and what happens when they are let through.

A worker decides on the history it was given; events that came meanwhile must follow its decisions. They change the
state at once and wait for their IDs. Source: the Temporal server's history builder, order included: when the buffer is
let through, what ends an activity or a child comes after everything else.
"""

from temporalio.api.enums.v1 import EventType as T
from temporalio.api.history.v1 import HistoryEvent

NEVER_BUFFERED = frozenset(
    (
        T.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
        T.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
        T.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
        T.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
        T.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
        T.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW,
        T.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
        T.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
        T.EVENT_TYPE_WORKFLOW_TASK_STARTED,
        T.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
        T.EVENT_TYPE_WORKFLOW_TASK_FAILED,
        T.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT,
        T.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
        T.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED,
        T.EVENT_TYPE_TIMER_STARTED,
        T.EVENT_TYPE_TIMER_CANCELED,
        T.EVENT_TYPE_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED,
        T.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED,
        T.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED,
        T.EVENT_TYPE_MARKER_RECORDED,
        T.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
        T.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED,
        T.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
        T.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED,
    )
)
"""Events of the workflow task itself, closing events, and what follows directly from a command or a message."""

_LAST = frozenset(
    (
        T.EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
        T.EVENT_TYPE_ACTIVITY_TASK_FAILED,
        T.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT,
        T.EVENT_TYPE_ACTIVITY_TASK_CANCELED,
        T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED,
        T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED,
        T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TIMED_OUT,
        T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED,
        T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED,
    )
)

_ENDS_ACTIVITY: dict[int, str] = {
    T.EVENT_TYPE_ACTIVITY_TASK_COMPLETED: "activity_task_completed_event_attributes",
    T.EVENT_TYPE_ACTIVITY_TASK_FAILED: "activity_task_failed_event_attributes",
    T.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT: "activity_task_timed_out_event_attributes",
    T.EVENT_TYPE_ACTIVITY_TASK_CANCELED: "activity_task_canceled_event_attributes",
}
_ENDS_CHILD: dict[int, str] = {
    T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED: "child_workflow_execution_completed_event_attributes",
    T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED: "child_workflow_execution_failed_event_attributes",
    T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TIMED_OUT: "child_workflow_execution_timed_out_event_attributes",
    T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED: "child_workflow_execution_canceled_event_attributes",
    T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED: "child_workflow_execution_terminated_event_attributes",
}


def ended_activity(event: HistoryEvent) -> int:
    """The scheduled event ID of the activity that the event ends; 0 when it ends none."""
    field = _ENDS_ACTIVITY.get(event.event_type)
    return 0 if field is None else getattr(event, field).scheduled_event_id


def ordered(buffered: list[HistoryEvent]) -> list[HistoryEvent]:
    """The order in which buffered events enter the history."""
    first = [event for event in buffered if event.event_type not in _LAST]
    return first + [event for event in buffered if event.event_type in _LAST]


def wire(events: list[HistoryEvent]) -> dict[int, int]:
    """Give ending events the ID of the started event they refer to; events have their own IDs already.

    Returns, for each child or activity whose started event was among them, initiating event ID → started event ID.
    """
    started: dict[int, int] = {}
    for event in events:
        kind = event.event_type
        if kind == T.EVENT_TYPE_ACTIVITY_TASK_STARTED:
            started[event.activity_task_started_event_attributes.scheduled_event_id] = event.event_id
        elif kind == T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED:
            started[event.child_workflow_execution_started_event_attributes.initiated_event_id] = (
                event.event_id
            )
        elif field := _ENDS_ACTIVITY.get(kind):
            attributes = getattr(event, field)
            attributes.started_event_id = started.get(
                attributes.scheduled_event_id, attributes.started_event_id
            )
        elif field := _ENDS_CHILD.get(kind):
            attributes = getattr(event, field)
            attributes.started_event_id = started.get(
                attributes.initiated_event_id, attributes.started_event_id
            )
    return started
