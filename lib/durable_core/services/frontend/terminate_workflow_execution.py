"""TerminateWorkflowExecution."""

from temporalio.api.workflowservice.v1 import (
    TerminateWorkflowExecutionRequest,
    TerminateWorkflowExecutionResponse,
)

from durable_core.engine import closing
from durable_core.engine.transition import Transition
from durable_core.model import limits
from durable_core.model.errors import InvalidArgument, NotFound
from durable_core.services import lookup, start_requests
from durable_core.services.context import Context

_DEFAULT_REASON = "terminated by user via frontend"


def terminate_workflow_execution(
    context: Context, request: TerminateWorkflowExecutionRequest
) -> TerminateWorkflowExecutionResponse:
    namespace = context.namespaces.named(request.namespace)
    lookup.check_present(request, "workflow_execution")
    lookup.check_execution(request.workflow_execution)
    start_requests.check_links(list(request.links))
    if request.details.ByteSize() > limits.blob_bytes_max:
        raise InvalidArgument("Blob data size exceeds limit.")
    details = request.details if request.HasField("details") else None

    def decide(t: Transition) -> None:
        first = request.first_execution_run_id
        if first and first != t.state.core.first_run_id:
            raise NotFound("workflow execution not found")
        lookup.require_open(t.state)
        reason = request.reason or _DEFAULT_REASON
        identity = request.identity or "frontend-service"
        closing.terminate(t, reason, details, identity, request.links)

    lookup.update(context, namespace.namespace_id, request.workflow_execution, decide)
    return TerminateWorkflowExecutionResponse()
