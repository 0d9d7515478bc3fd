"""REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION: recorded now, delivered by the history service, answered by an event."""

from msgspec.structs import replace
from temporalio.api.command.v1 import Command, RequestCancelExternalWorkflowExecutionCommandAttributes
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import (
    HistoryEvent,
    RequestCancelExternalWorkflowExecutionInitiatedEventAttributes,
)

from durable_core.engine import checks
from durable_core.engine.completion import BadCommand, Completion, require_attributes
from durable_core.model import limits
from durable_core.model.ids import is_uuid
from durable_core.model.tasks import CancelExternal

_Cause = WorkflowTaskFailedCause
_BAD = _Cause.WORKFLOW_TASK_FAILED_CAUSE_BAD_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_ATTRIBUTES


def handle(completion: Completion, command: Command) -> HistoryEvent:
    require_attributes(command, "request_cancel_external_workflow_execution_command_attributes", _BAD)
    attributes = command.request_cancel_external_workflow_execution_command_attributes
    t = completion.t
    target = completion.own_namespace(attributes.namespace, _BAD)
    _check(attributes, completion.children)
    if len(t.state.cancels) >= limits.pending_cancel_requests_max:
        raise BadCommand(
            _Cause.WORKFLOW_TASK_FAILED_CAUSE_PENDING_REQUEST_CANCEL_LIMIT_EXCEEDED,
            f"the number of pending requests to cancel external workflows, {len(t.state.cancels)}, has reached "
            f"the per-workflow limit of {limits.pending_cancel_requests_max}",
        )
    event = t.add(
        EventType.EVENT_TYPE_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED,
        command=command,
        request_cancel_external_workflow_execution_initiated_event_attributes=(
            RequestCancelExternalWorkflowExecutionInitiatedEventAttributes(
                workflow_task_completed_event_id=completion.completed_event_id,
                namespace=attributes.namespace,
                namespace_id=target.namespace_id,
                workflow_execution=WorkflowExecution(
                    workflow_id=attributes.workflow_id, run_id=attributes.run_id
                ),
                control=attributes.control,
                child_workflow_only=attributes.child_workflow_only,
                reason=attributes.reason,
            )
        ),
    )
    info = t.state.cancels.get(event.event_id)
    assert info is not None
    t.state.cancels.put(event.event_id, replace(info, request_id=t.ids.unique()))
    t.service_task(CancelExternal(event.event_id))
    return event


def _check(
    attributes: RequestCancelExternalWorkflowExecutionCommandAttributes, started_now: set[str]
) -> None:
    workflow_id, run_id = attributes.workflow_id, attributes.run_id
    name = "RequestCancelExternalWorkflowExecutionCommand"
    where = f"RunId={run_id} Namespace={attributes.namespace}"
    if not workflow_id:
        detail = f"Namespace={attributes.namespace} RunId={run_id}"
        raise BadCommand(_BAD, f"WorkflowId is not set on {name}. {detail}")
    if checks.too_long(workflow_id):
        detail = f"WorkflowId={workflow_id} Length={len(workflow_id)} Limit={limits.id_length_max} {where}"
        raise BadCommand(_BAD, f"WorkflowId on {name} exceeds length limit. {detail}")
    if run_id and not is_uuid(run_id):
        raise BadCommand(_BAD, f"Invalid RunId set on {name}. WorkflowId={workflow_id} {where}")
    if workflow_id in started_now:
        raise BadCommand(
            _BAD,
            "Start and RequestCancel for child workflow is not allowed in same workflow task. "
            f"WorkflowId={workflow_id} {where}",
        )
