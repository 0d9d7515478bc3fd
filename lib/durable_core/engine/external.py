"""Signals and cancel requests: how they arrive, and how their outcome is recorded at their sender."""

from collections.abc import Sequence
from dataclasses import dataclass

from temporalio.api.common.v1 import Header, Link, Payloads, WorkflowExecution
from temporalio.api.enums.v1 import (
    CancelExternalWorkflowExecutionFailedCause,
    EventType,
    SignalExternalWorkflowExecutionFailedCause,
)
from temporalio.api.history.v1 import (
    ExternalWorkflowExecutionCancelRequestedEventAttributes,
    ExternalWorkflowExecutionSignaledEventAttributes,
    HistoryEvent,
    RequestCancelExternalWorkflowExecutionFailedEventAttributes,
    SignalExternalWorkflowExecutionFailedEventAttributes,
    WorkflowExecutionCancelRequestedEventAttributes,
    WorkflowExecutionSignaledEventAttributes,
)

from durable_core.engine.transition import Transition
from durable_core.model import limits
from durable_core.model.errors import InvalidArgument
from durable_core.model.state import ExternalInfo

T = EventType


@dataclass(frozen=True, slots=True)
class Signal:
    name: str
    input: Payloads | None
    identity: str
    header: Header | None
    request_id: str
    sender: WorkflowExecution | None = None
    links: Sequence[Link] = ()


@dataclass(frozen=True, slots=True)
class CancelRequest:
    reason: str
    identity: str
    request_id: str
    sender: WorkflowExecution | None = None
    sender_event_id: int = 0
    links: Sequence[Link] = ()


def signal(t: Transition, request: Signal) -> None:
    """A signal arrives. The same request ID acts once."""
    state = t.state
    if request.request_id and request.request_id in state.requests:
        return
    if state.core.signals >= limits.signals_per_run_max:
        raise InvalidArgument("exceeded workflow execution limit for signal events")
    t.add(
        T.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
        links=request.links,
        workflow_execution_signaled_event_attributes=WorkflowExecutionSignaledEventAttributes(
            signal_name=request.name,
            input=request.input,
            identity=request.identity,
            header=request.header,
            external_workflow_execution=request.sender,
            request_id=request.request_id,
        ),
    )
    t.wants_workflow_task = True


def request_cancel(t: Transition, request: CancelRequest) -> bool:
    """Ask the run to cancel itself. False when that was asked before (with another request ID)."""
    core = t.state.core
    if core.cancel_requested:
        return bool(request.request_id) and core.cancel_request_id == request.request_id
    t.add(
        T.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED,
        links=request.links,
        workflow_execution_cancel_requested_event_attributes=WorkflowExecutionCancelRequestedEventAttributes(
            cause=request.reason,
            external_initiated_event_id=request.sender_event_id,
            external_workflow_execution=request.sender,
            identity=request.identity,
        ),
    )
    core.cancel_request_id = request.request_id
    t.wants_workflow_task = True
    return True


def record_signaled(t: Transition, info: ExternalInfo, control: str) -> None:
    t.add(
        T.EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_SIGNALED,
        external_workflow_execution_signaled_event_attributes=ExternalWorkflowExecutionSignaledEventAttributes(
            initiated_event_id=info.initiated_event_id,
            namespace=info.namespace or t.state.core.namespace,
            namespace_id=info.namespace_id,
            workflow_execution=WorkflowExecution(workflow_id=info.workflow_id, run_id=info.run_id),
            control=control,
        ),
    )
    t.wants_workflow_task = True


def record_signal_failed(
    t: Transition,
    info: ExternalInfo,
    cause: "SignalExternalWorkflowExecutionFailedCause.ValueType",
    initiated: HistoryEvent,
) -> None:
    sent = initiated.signal_external_workflow_execution_initiated_event_attributes
    t.add(
        T.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED,
        signal_external_workflow_execution_failed_event_attributes=SignalExternalWorkflowExecutionFailedEventAttributes(
            cause=cause,
            namespace=info.namespace or t.state.core.namespace,
            namespace_id=info.namespace_id,
            workflow_execution=WorkflowExecution(workflow_id=info.workflow_id, run_id=info.run_id),
            initiated_event_id=info.initiated_event_id,
            control=sent.control,
        ),
    )
    t.wants_workflow_task = True


def record_cancel_requested(t: Transition, info: ExternalInfo) -> None:
    t.add(
        T.EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_CANCEL_REQUESTED,
        external_workflow_execution_cancel_requested_event_attributes=(
            ExternalWorkflowExecutionCancelRequestedEventAttributes(
                initiated_event_id=info.initiated_event_id,
                namespace=info.namespace or t.state.core.namespace,
                namespace_id=info.namespace_id,
                workflow_execution=WorkflowExecution(workflow_id=info.workflow_id, run_id=info.run_id),
            )
        ),
    )
    t.wants_workflow_task = True


def record_cancel_failed(
    t: Transition,
    info: ExternalInfo,
    cause: "CancelExternalWorkflowExecutionFailedCause.ValueType",
    initiated: HistoryEvent,
) -> None:
    sent = initiated.request_cancel_external_workflow_execution_initiated_event_attributes
    t.add(
        T.EVENT_TYPE_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_FAILED,
        request_cancel_external_workflow_execution_failed_event_attributes=(
            RequestCancelExternalWorkflowExecutionFailedEventAttributes(
                cause=cause,
                namespace=info.namespace or t.state.core.namespace,
                namespace_id=info.namespace_id,
                workflow_execution=WorkflowExecution(workflow_id=info.workflow_id, run_id=info.run_id),
                initiated_event_id=info.initiated_event_id,
                control=sent.control,
            )
        ),
    )
    t.wants_workflow_task = True
