"""DeleteWorkflowExecution: terminate the run if it is open, and leave its deletion to the history service."""

from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest, DeleteWorkflowExecutionResponse

from durable_core.engine import closing
from durable_core.engine.transition import Transition
from durable_core.model.tasks import DeleteRun
from durable_core.services import lookup
from durable_core.services.context import Context

_REASON = "Delete workflow execution"


def delete_workflow_execution(
    context: Context, request: DeleteWorkflowExecutionRequest
) -> DeleteWorkflowExecutionResponse:
    namespace = context.namespaces.named(request.namespace)
    lookup.check_present(request, "workflow_execution")
    key = lookup.run_key(context, namespace.namespace_id, request.workflow_execution)

    def decide(t: Transition) -> None:
        if t.state.is_open:
            closing.terminate(t, _REASON, None, closing.IDENTITY_HISTORY_SERVICE)
        t.service_task(DeleteRun())

    context.runs.update(key, decide)
    return DeleteWorkflowExecutionResponse()
