"""SignalWorkflowExecution."""

from temporalio.api.common.v1 import Link
from temporalio.api.enums.v1 import EventType, ResourceExhaustedCause
from temporalio.api.workflowservice.v1 import SignalWorkflowExecutionRequest, SignalWorkflowExecutionResponse

from durable_core.engine import checks, external
from durable_core.engine.transition import Transition
from durable_core.model import limits
from durable_core.model.errors import InvalidArgument, ResourceExhausted
from durable_core.services import lookup, start_requests
from durable_core.services.context import Context


def signal_workflow_execution(
    context: Context, request: SignalWorkflowExecutionRequest
) -> SignalWorkflowExecutionResponse:
    namespace = context.namespaces.named(request.namespace)
    lookup.check_present(request, "workflow_execution")
    lookup.check_execution(request.workflow_execution)
    _check(request)
    key = lookup.run_key(context, namespace.namespace_id, request.workflow_execution)
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
        task = t.state.core.workflow_task
        if t.state.core.close_attempted and task is not None and task.started_event_id:
            raise ResourceExhausted(
                "workflow operation can not be applied because workflow is closing",
                ResourceExhaustedCause.RESOURCE_EXHAUSTED_CAUSE_BUSY_WORKFLOW,
            )
        external.signal(t, signal)

    context.runs.update(key, decide)
    link = Link.WorkflowEvent(
        namespace=namespace.name,
        workflow_id=key.workflow_id,
        run_id=key.run_id,
        request_id_ref=Link.WorkflowEvent.RequestIdReference(
            request_id=request.request_id,
            event_type=EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
        ),
    )
    return SignalWorkflowExecutionResponse(link=Link(workflow_event=link))


def _check(request: SignalWorkflowExecutionRequest) -> None:
    if not request.signal_name:
        raise InvalidArgument("SignalName is not set on request.")
    for field, value in (("SignalName", request.signal_name), ("RequestId", request.request_id)):
        if checks.too_long(value):
            raise InvalidArgument(f"{field} length exceeds limit.")
    if request.input.ByteSize() > limits.blob_bytes_max:
        raise InvalidArgument("Blob data size exceeds limit.")
    start_requests.check_links(list(request.links))
