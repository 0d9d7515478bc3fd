"""SignalWorkflowExecution."""

from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import SignalWorkflowExecutionRequest, SignalWorkflowExecutionResponse

from durable_core.engine import checks, external
from durable_core.engine.transition import Transition
from durable_core.model import limits
from durable_core.model.errors import InvalidArgument
from durable_core.services import lookup, start_requests
from durable_core.services.context import Context


def signal_workflow_execution(
    context: Context, request: SignalWorkflowExecutionRequest
) -> SignalWorkflowExecutionResponse:
    namespace = context.namespaces.named(request.namespace)
    lookup.check_present(request, "workflow_execution")
    lookup.check_execution(request.workflow_execution)
    _check(request)
    signal = external.Signal(
        name=request.signal_name,
        input=request.input if request.HasField("input") else None,
        identity=request.identity,
        header=request.header if request.HasField("header") else None,
        request_id=request.request_id,
        links=request.links,
    )

    def decide(t: Transition) -> None:
        if request.request_id and request.request_id in t.state.requests:
            return
        lookup.require_open(t.state)
        lookup.require_not_closing(t.state)
        external.signal(t, signal)

    key, _ = lookup.update(context, namespace.namespace_id, request.workflow_execution, decide)
    link = lookup.request_link(
        namespace, key, request.request_id, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
    )
    return SignalWorkflowExecutionResponse(link=link)


def _check(request: SignalWorkflowExecutionRequest) -> None:
    if not request.signal_name:
        raise InvalidArgument("SignalName is not set on request.")
    for field, value in (("SignalName", request.signal_name), ("RequestId", request.request_id)):
        if checks.too_long(value):
            raise InvalidArgument(f"{field} length exceeds limit.")
    if request.input.ByteSize() > limits.blob_bytes_max:
        raise InvalidArgument("Blob data size exceeds limit.")
    start_requests.check_links(list(request.links))
