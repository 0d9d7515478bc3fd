"""Ask another execution to cancel itself, and record the outcome at the sender."""

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import CancelExternalWorkflowExecutionFailedCause
from temporalio.api.history.v1 import HistoryEvent

from durable_core.engine import closing, external
from durable_core.engine.transition import Transition
from durable_core.model.errors import NamespaceNotFound, NotFound, RunClosed
from durable_core.model.state import ExternalInfo, RunState
from durable_core.model.tasks import CancelExternal, Task
from durable_core.services import lookup
from durable_core.services.context import Context

_Cause = CancelExternalWorkflowExecutionFailedCause


def cancel_external(context: Context, task: Task, body: CancelExternal) -> None:
    sender = context.runs.find(task.run)
    info = None if sender is None else sender.cancels.get(body.initiated_event_id)
    if sender is None or info is None or not sender.is_open:
        return
    initiated = context.reader.event(sender.core, body.initiated_event_id)
    cause = _deliver(context, sender, info, initiated)

    def decide(t: Transition) -> None:
        pending = t.state.cancels.get(body.initiated_event_id)
        if pending is None or not t.state.is_open:
            return
        if cause is None:
            external.record_cancel_requested(t, pending)
        else:
            external.record_cancel_failed(t, pending, cause, initiated)

    context.runs.update(task.run, decide)


def _deliver(
    context: Context, sender: RunState, info: ExternalInfo, initiated: HistoryEvent
) -> "CancelExternalWorkflowExecutionFailedCause.ValueType | None":
    """None when the request arrived (at a closed run it has nothing to do), else why it could not."""
    core = sender.core
    not_found = _Cause.CANCEL_EXTERNAL_WORKFLOW_EXECUTION_FAILED_CAUSE_EXTERNAL_WORKFLOW_EXECUTION_NOT_FOUND
    if (info.namespace_id, info.workflow_id) == (core.namespace_id, core.workflow_id):
        return not_found
    attributes = initiated.request_cancel_external_workflow_execution_initiated_event_attributes
    request = external.CancelRequest(
        reason=attributes.reason,
        identity=closing.IDENTITY_HISTORY_SERVICE,
        request_id=info.request_id,
        sender=WorkflowExecution(workflow_id=core.workflow_id, run_id=core.run_id),
        sender_event_id=info.initiated_event_id,
    )

    def decide(t: Transition) -> None:
        lookup.require_open(t.state)
        lookup.require_child_of(t.state, sender, only=info.child_only)
        external.request_cancel(t, request)

    try:
        context.namespaces.with_id(info.namespace_id)
        execution = WorkflowExecution(workflow_id=info.workflow_id, run_id=info.run_id)
        lookup.update(context, info.namespace_id, execution, decide)
    except NamespaceNotFound:
        return _Cause.CANCEL_EXTERNAL_WORKFLOW_EXECUTION_FAILED_CAUSE_NAMESPACE_NOT_FOUND
    except RunClosed:
        return None
    except NotFound:
        return not_found
    return None
