"""A child workflow as its parent sees it.

state       event                                   next
----------  --------------------------------------  ----------
-           StartChildWorkflowExecutionInitiated    initiated
initiated   StartChildWorkflowExecutionFailed       ended
initiated   ChildWorkflowExecutionStarted           started
started     ChildWorkflowExecutionCompleted         ended
started     ChildWorkflowExecutionFailed            ended
started     ChildWorkflowExecutionCanceled          ended
started     ChildWorkflowExecutionTerminated        ended
started     ChildWorkflowExecutionTimedOut          ended
"""

from collections.abc import Callable

from msgspec.structs import replace
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent

from durable_core.model.errors import IllegalTransition
from durable_core.model.state import ChildInfo, RunState


def pending(state: RunState, initiated_event_id: int) -> ChildInfo:
    info = state.children.get(initiated_event_id)
    if info is None:
        raise IllegalTransition(f"child {initiated_event_id} is not pending")
    return info


def apply_initiated(state: RunState, event: HistoryEvent) -> None:
    attributes = event.start_child_workflow_execution_initiated_event_attributes
    state.children.put(
        event.event_id,
        ChildInfo(
            initiated_event_id=event.event_id,
            namespace=attributes.namespace,
            namespace_id=attributes.namespace_id,
            workflow_id=attributes.workflow_id,
            workflow_type=attributes.workflow_type.name,
            parent_close_policy=attributes.parent_close_policy,
            request_id="",
        ),
    )


def apply_start_failed(state: RunState, event: HistoryEvent) -> None:
    initiated = event.start_child_workflow_execution_failed_event_attributes.initiated_event_id
    if pending(state, initiated).started_event_id:
        raise IllegalTransition(f"child {initiated} is started already")
    state.children.remove(initiated)


def apply_started(state: RunState, event: HistoryEvent) -> None:
    attributes = event.child_workflow_execution_started_event_attributes
    info = pending(state, attributes.initiated_event_id)
    if info.started_event_id:
        raise IllegalTransition(f"child {attributes.initiated_event_id} is started already")
    state.children.put(
        attributes.initiated_event_id,
        replace(info, started_event_id=event.event_id, run_id=attributes.workflow_execution.run_id),
    )


def _closing(field: str) -> Callable[[RunState, HistoryEvent], None]:
    def apply(state: RunState, event: HistoryEvent) -> None:
        initiated: int = getattr(event, field).initiated_event_id
        if not pending(state, initiated).started_event_id:
            raise IllegalTransition(f"child {initiated} has not started")
        state.children.remove(initiated)

    return apply


APPLY = {
    EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED: apply_initiated,
    EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_FAILED: apply_start_failed,
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED: apply_started,
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED: _closing(
        "child_workflow_execution_completed_event_attributes"
    ),
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED: _closing(
        "child_workflow_execution_failed_event_attributes"
    ),
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED: _closing(
        "child_workflow_execution_canceled_event_attributes"
    ),
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED: _closing(
        "child_workflow_execution_terminated_event_attributes"
    ),
    EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TIMED_OUT: _closing(
        "child_workflow_execution_timed_out_event_attributes"
    ),
}
