"""From an event to the state: one table over all machines, used live and when a history is folded.

A newcomer's trap: the checks come before the change. `apply` raises `IllegalTransition` for an event that does not fit
and the state is as it was.
"""

from collections.abc import Callable, Iterable, Mapping

from msgspec.structs import replace
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent

from durable_core.engine import buffering, reset_points
from durable_core.machines import activity, child_workflow, execution, external, timer, update, workflow_task
from durable_core.model.errors import IllegalTransition
from durable_core.model.state import BUFFERED_EVENT_ID, Core, RunState


def _apply_completed(state: RunState, event: HistoryEvent) -> None:
    workflow_task.apply_completed(state, event)
    reset_points.record(state.core, event)


APPLY: Mapping[EventType.ValueType, Callable[[RunState, HistoryEvent], None]] = {
    **execution.APPLY,
    **workflow_task.APPLY,
    EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED: _apply_completed,
    **activity.APPLY,
    **timer.APPLY,
    **child_workflow.APPLY,
    **external.APPLY,
    **update.APPLY,
}


def apply(state: RunState, event: HistoryEvent) -> None:
    """Change the state by one event; event IDs are 1..n without gap, and nothing follows a closing event.

    A buffered event changes its machine now and takes its ID later.
    """
    core = state.core
    function = APPLY.get(event.event_type)
    if function is None:
        raise IllegalTransition(f"no machine knows events of type {event.event_type}")
    if core.closed_at:
        raise IllegalTransition("nothing follows a closing event")
    if not core.status and event.event_type != EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
        raise IllegalTransition("a history begins with WorkflowExecutionStarted")
    buffered = event.event_id == BUFFERED_EVENT_ID
    if buffered and event.event_type in buffering.NEVER_BUFFERED:
        raise IllegalTransition(f"events of type {event.event_type} do not wait in the buffer")
    if not buffered and event.event_id != core.next_event_id:
        raise IllegalTransition(f"event {event.event_id} does not follow {core.next_event_id - 1}")
    function(state, event)
    if not buffered:
        count(core, event)


def count(core: Core, event: HistoryEvent) -> None:
    """The event has its place in the history."""
    core.next_event_id += 1
    core.history_bytes += event.ByteSize()


def fold(events: Iterable[HistoryEvent], state: RunState | None = None) -> RunState:
    """The state that a history (or its continuation from `state`) leads to."""
    state = RunState(Core()) if state is None else state
    for event in events:
        apply(state, event)
    return state


def settle(state: RunState, event: HistoryEvent, started: dict[int, int]) -> None:
    """A buffered event got its ID: set it where the state remembers it."""
    kind = event.event_type
    if kind == EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED:
        initiated = event.child_workflow_execution_started_event_attributes.initiated_event_id
        info = state.children.get(initiated)
        if info is not None:
            state.children.put(initiated, replace(info, started_event_id=started[initiated]))
    elif kind == EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED:
        scheduled = event.activity_task_started_event_attributes.scheduled_event_id
        activity_info = state.activities.get(scheduled)
        if activity_info is not None:
            state.activities.put(scheduled, replace(activity_info, started_event_id=started[scheduled]))
    elif kind == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
        request_id = event.workflow_execution_signaled_event_attributes.request_id
        if request_id:
            state.requests.put(request_id, event.event_id)
    elif kind == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_OPTIONS_UPDATED:
        request_id = event.workflow_execution_options_updated_event_attributes.attached_request_id
        if request_id:
            state.core.attached_requests = {**state.core.attached_requests, request_id: event.event_id}
