"""RequestCancelWorkflowExecution."""

from temporalio.api.workflowservice.v1 import (
    RequestCancelWorkflowExecutionRequest,
    RequestCancelWorkflowExecutionResponse,
)

from durable_core.engine import checks, external
from durable_core.engine.transition import Transition
from durable_core.model.errors import InvalidArgument, NotFound, RunClosed
from durable_core.services import lookup, start_requests
from durable_core.services.context import Context


def request_cancel_workflow_execution(
    context: Context, request: RequestCancelWorkflowExecutionRequest
) -> RequestCancelWorkflowExecutionResponse:
    namespace = context.namespaces.named(request.namespace)
    lookup.check_present(request, "workflow_execution")
    lookup.check_execution(request.workflow_execution)
    if checks.too_long(request.request_id):
        raise InvalidArgument("RequestId length exceeds limit.")
    start_requests.check_links(list(request.links))
    cancel = external.CancelRequest(
        reason=request.reason,
        identity=request.identity,
        request_id=request.request_id,
        links=request.links,
    )

    def decide(t: Transition) -> None:
        first = request.first_execution_run_id
        if first and first != t.state.core.first_run_id:
            raise NotFound("workflow execution not found")
        lookup.require_open(t.state)
        external.request_cancel(t, cancel)

    try:
        lookup.update(context, namespace.namespace_id, request.workflow_execution, decide)
    except RunClosed:
        # What is closed needs no cancelling: that is no error, as on the Temporal server.
        return RequestCancelWorkflowExecutionResponse()
    return RequestCancelWorkflowExecutionResponse()
