"""What happens to a child is recorded at its parent: started, not started, closed."""

from google.protobuf.message import Message
from temporalio.api.common.v1 import Header, Payloads, WorkflowExecution, WorkflowType
from temporalio.api.enums.v1 import EventType, StartChildWorkflowExecutionFailedCause
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import (
    ChildWorkflowExecutionCanceledEventAttributes,
    ChildWorkflowExecutionCompletedEventAttributes,
    ChildWorkflowExecutionFailedEventAttributes,
    ChildWorkflowExecutionStartedEventAttributes,
    ChildWorkflowExecutionTerminatedEventAttributes,
    ChildWorkflowExecutionTimedOutEventAttributes,
    HistoryEvent,
    StartChildWorkflowExecutionFailedEventAttributes,
)

from durable_core.engine.transition import Transition
from durable_core.model.state import ChildInfo

T = EventType


def record_started(t: Transition, child: ChildInfo, run_id: str, header: Header | None) -> ChildInfo:
    """The child runs. Returns what the parent knows of it now."""
    t.add(
        T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED,
        child_workflow_execution_started_event_attributes=ChildWorkflowExecutionStartedEventAttributes(
            namespace=child.namespace,
            namespace_id=child.namespace_id,
            initiated_event_id=child.initiated_event_id,
            workflow_execution=WorkflowExecution(workflow_id=child.workflow_id, run_id=run_id),
            workflow_type=WorkflowType(name=child.workflow_type),
            header=header,
        ),
    )
    t.wants_workflow_task = True
    info = t.state.children.get(child.initiated_event_id)
    assert info is not None
    return info


def record_start_failed(
    t: Transition,
    child: ChildInfo,
    cause: "StartChildWorkflowExecutionFailedCause.ValueType",
    initiated: HistoryEvent,
) -> None:
    attributes = initiated.start_child_workflow_execution_initiated_event_attributes
    t.add(
        T.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_FAILED,
        start_child_workflow_execution_failed_event_attributes=StartChildWorkflowExecutionFailedEventAttributes(
            namespace=child.namespace,
            namespace_id=child.namespace_id,
            workflow_id=child.workflow_id,
            workflow_type=WorkflowType(name=child.workflow_type),
            cause=cause,
            control=attributes.control,
            initiated_event_id=child.initiated_event_id,
        ),
    )
    t.wants_workflow_task = True


def record_closed(t: Transition, child: ChildInfo, close: HistoryEvent, run_id: str) -> None:
    """The child's chain ended with `close`, the closing event of its last run."""
    common: dict[str, str | int | Message] = {
        "namespace": child.namespace,
        "namespace_id": child.namespace_id,
        "workflow_execution": WorkflowExecution(workflow_id=child.workflow_id, run_id=run_id),
        "workflow_type": WorkflowType(name=child.workflow_type),
        "initiated_event_id": child.initiated_event_id,
        "started_event_id": child.started_event_id,
    }
    kind = close.event_type
    if kind == T.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
        completed = close.workflow_execution_completed_event_attributes
        result: Payloads | None = completed.result if completed.HasField("result") else None
        t.add(
            T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED,
            child_workflow_execution_completed_event_attributes=ChildWorkflowExecutionCompletedEventAttributes(
                result=result,
                **common,  # type: ignore[arg-type]
            ),
        )
    elif kind == T.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
        failed = close.workflow_execution_failed_event_attributes
        failure: Failure = failed.failure
        t.add(
            T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED,
            child_workflow_execution_failed_event_attributes=ChildWorkflowExecutionFailedEventAttributes(
                failure=failure,
                retry_state=failed.retry_state,
                **common,  # type: ignore[arg-type]
            ),
        )
    else:
        _record_stopped(t, close, common)
    t.wants_workflow_task = True


def _record_stopped(t: Transition, close: HistoryEvent, common: dict[str, str | int | Message]) -> None:
    """The child was cancelled, terminated or timed out."""
    kind = close.event_type
    if kind == T.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED:
        canceled = close.workflow_execution_canceled_event_attributes
        details = canceled.details if canceled.HasField("details") else None
        t.add(
            T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED,
            child_workflow_execution_canceled_event_attributes=ChildWorkflowExecutionCanceledEventAttributes(
                details=details,
                **common,  # type: ignore[arg-type]
            ),
        )
    elif kind == T.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED:
        t.add(
            T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED,
            child_workflow_execution_terminated_event_attributes=ChildWorkflowExecutionTerminatedEventAttributes(
                **common,  # type: ignore[arg-type]
            ),
        )
    else:
        t.add(
            T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TIMED_OUT,
            child_workflow_execution_timed_out_event_attributes=ChildWorkflowExecutionTimedOutEventAttributes(
                retry_state=close.workflow_execution_timed_out_event_attributes.retry_state,
                **common,  # type: ignore[arg-type]
            ),
        )
