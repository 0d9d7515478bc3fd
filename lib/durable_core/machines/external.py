"""Signals and cancel requests to other executions: initiated by a command, answered once.

state       event                                             next
----------  ------------------------------------------------  ----------
-           SignalExternalWorkflowExecutionInitiated          initiated
initiated   SignalExternalWorkflowExecutionFailed             ended
initiated   ExternalWorkflowExecutionSignaled                 ended
-           RequestCancelExternalWorkflowExecutionInitiated   initiated
initiated   RequestCancelExternalWorkflowExecutionFailed      ended
initiated   ExternalWorkflowExecutionCancelRequested          ended
"""

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import (
    HistoryEvent,
    RequestCancelExternalWorkflowExecutionInitiatedEventAttributes,
    SignalExternalWorkflowExecutionInitiatedEventAttributes,
)

from durable_core.model.errors import IllegalTransition
from durable_core.model.section import Section
from durable_core.model.state import ExternalInfo, RunState


def _end(section: Section[int, ExternalInfo], initiated_event_id: int) -> None:
    if initiated_event_id not in section:
        raise IllegalTransition(f"external request {initiated_event_id} is not pending")
    section.remove(initiated_event_id)


def _initiate(
    section: Section[int, ExternalInfo],
    event: HistoryEvent,
    attributes: SignalExternalWorkflowExecutionInitiatedEventAttributes
    | RequestCancelExternalWorkflowExecutionInitiatedEventAttributes,
) -> None:
    section.put(
        event.event_id,
        ExternalInfo(
            initiated_event_id=event.event_id,
            namespace=attributes.namespace,
            namespace_id=attributes.namespace_id,
            workflow_id=attributes.workflow_execution.workflow_id,
            run_id=attributes.workflow_execution.run_id,
            request_id="",
            child_only=attributes.child_workflow_only,
        ),
    )


def apply_signal_initiated(state: RunState, event: HistoryEvent) -> None:
    _initiate(state.signals, event, event.signal_external_workflow_execution_initiated_event_attributes)


def apply_signal_failed(state: RunState, event: HistoryEvent) -> None:
    _end(
        state.signals,
        event.signal_external_workflow_execution_failed_event_attributes.initiated_event_id,
    )


def apply_signaled(state: RunState, event: HistoryEvent) -> None:
    _end(state.signals, event.external_workflow_execution_signaled_event_attributes.initiated_event_id)


def apply_cancel_initiated(state: RunState, event: HistoryEvent) -> None:
    attributes = event.request_cancel_external_workflow_execution_initiated_event_attributes
    _initiate(state.cancels, event, attributes)


def apply_cancel_failed(state: RunState, event: HistoryEvent) -> None:
    _end(
        state.cancels,
        event.request_cancel_external_workflow_execution_failed_event_attributes.initiated_event_id,
    )


def apply_cancel_requested(state: RunState, event: HistoryEvent) -> None:
    _end(
        state.cancels,
        event.external_workflow_execution_cancel_requested_event_attributes.initiated_event_id,
    )


APPLY = {
    EventType.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED: apply_signal_initiated,
    EventType.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED: apply_signal_failed,
    EventType.EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_SIGNALED: apply_signaled,
    EventType.EVENT_TYPE_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED: apply_cancel_initiated,
    EventType.EVENT_TYPE_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_FAILED: apply_cancel_failed,
    EventType.EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_CANCEL_REQUESTED: apply_cancel_requested,
}
