"""SIGNAL_EXTERNAL_WORKFLOW_EXECUTION: recorded now, delivered by the history service, answered by an event."""

from msgspec.structs import replace
from temporalio.api.command.v1 import Command, SignalExternalWorkflowExecutionCommandAttributes
from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent, SignalExternalWorkflowExecutionInitiatedEventAttributes

from durable_core.engine import checks
from durable_core.engine.completion import BadCommand, Completion, check_size, require_attributes
from durable_core.model import limits
from durable_core.model.ids import is_uuid
from durable_core.model.tasks import SignalExternal

_Cause = WorkflowTaskFailedCause
_BAD = _Cause.WORKFLOW_TASK_FAILED_CAUSE_BAD_SIGNAL_WORKFLOW_EXECUTION_ATTRIBUTES


def handle(completion: Completion, command: Command) -> HistoryEvent:
    require_attributes(command, "signal_external_workflow_execution_command_attributes", _BAD)
    attributes = command.signal_external_workflow_execution_command_attributes
    t = completion.t
    target = completion.own_namespace(attributes.namespace, _BAD)
    _check(attributes)
    if len(t.state.signals) >= limits.pending_signals_max:
        raise BadCommand(
            _Cause.WORKFLOW_TASK_FAILED_CAUSE_PENDING_SIGNALS_LIMIT_EXCEEDED,
            f"the number of pending signals to external workflows, {len(t.state.signals)}, has reached the "
            f"per-workflow limit of {limits.pending_signals_max}",
        )
    check_size(attributes.input.ByteSize(), "SignalExternalWorkflowExecutionCommandAttributes.Input", _BAD)
    event = t.add(
        EventType.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED,
        command=command,
        signal_external_workflow_execution_initiated_event_attributes=(
            SignalExternalWorkflowExecutionInitiatedEventAttributes(
                workflow_task_completed_event_id=completion.completed_event_id,
                namespace=attributes.namespace,
                namespace_id=target.namespace_id,
                workflow_execution=attributes.execution,
                signal_name=attributes.signal_name,
                input=attributes.input if attributes.HasField("input") else None,
                control=attributes.control,
                child_workflow_only=attributes.child_workflow_only,
                header=attributes.header if attributes.HasField("header") else None,
            )
        ),
    )
    info = t.state.signals.get(event.event_id)
    assert info is not None
    t.state.signals.put(event.event_id, replace(info, request_id=t.ids.unique()))
    t.service_task(SignalExternal(event.event_id))
    return event


def _check(attributes: SignalExternalWorkflowExecutionCommandAttributes) -> None:
    if not attributes.HasField("execution"):
        raise BadCommand(_BAD, "Execution is not set on SignalExternalWorkflowExecutionCommand.")
    workflow_id, run_id = attributes.execution.workflow_id, attributes.execution.run_id
    where = f"Namespace={attributes.namespace} RunId={run_id} SignalName={attributes.signal_name}"
    if not workflow_id:
        raise BadCommand(_BAD, f"WorkflowId is not set on SignalExternalWorkflowExecutionCommand. {where}")
    if checks.too_long(workflow_id):
        detail = f"WorkflowId={workflow_id} Length={len(workflow_id)} Limit={limits.id_length_max} {where}"
        raise BadCommand(
            _BAD, f"WorkflowId on SignalExternalWorkflowExecutionCommand exceeds length limit. {detail}"
        )
    if run_id and not is_uuid(run_id):
        detail = (
            f"WorkflowId={workflow_id} Namespace={attributes.namespace} RunId={run_id} "
            f"SignalName={attributes.signal_name}"
        )
        raise BadCommand(_BAD, f"Invalid RunId set on SignalExternalWorkflowExecutionCommand. {detail}")
    if not attributes.signal_name:
        detail = f"WorkflowId={workflow_id} Namespace={attributes.namespace} RunId={run_id}"
        raise BadCommand(_BAD, f"SignalName is not set on SignalExternalWorkflowExecutionCommand. {detail}")
