"""StartWorkflowExecution."""

from temporalio.api.common.v1 import Link
from temporalio.api.enums.v1 import EventType, WorkflowExecutionStatus
from temporalio.api.workflowservice.v1 import StartWorkflowExecutionRequest, StartWorkflowExecutionResponse

from durable_core.engine import starting
from durable_core.engine.transition import Transition
from durable_core.model.ids import WorkflowKey
from durable_core.services import start_requests, starts
from durable_core.services.context import Context


def start_workflow_execution(
    context: Context, request: StartWorkflowExecutionRequest
) -> StartWorkflowExecutionResponse:
    namespace = context.namespaces.named(request.namespace)
    start_requests.check(request, namespace)
    chosen = start_requests.policies(request.workflow_id_reuse_policy, request.workflow_id_conflict_policy)
    now = context.clock.now()
    starter = starts.Starter(
        request.request_id or context.ids.unique(),
        request.identity,
        request.on_conflict_options if request.HasField("on_conflict_options") else None,
        list(request.links),
    )
    new = starting.NewRun(namespace.namespace_id, namespace.name, context.ids.run_id(now), starter.request_id)

    def begin() -> Transition:
        attributes = start_requests.attributes(request, namespace, new.run_id, now)
        return starting.begin(
            new,
            attributes,
            now,
            context.ids,
            user_metadata=request.user_metadata if request.HasField("user_metadata") else None,
            links=request.links,
        )

    key = WorkflowKey(namespace.namespace_id, request.workflow_id)
    started = starts.start(context, key, chosen, starter, begin)
    return StartWorkflowExecutionResponse(
        run_id=started.run_id,
        first_execution_run_id=started.first_run_id,
        started=started.new,
        status=WorkflowExecutionStatus.ValueType(started.status),
        link=_link(request, started),
    )


def _link(request: StartWorkflowExecutionRequest, started: starts.Started) -> Link:
    """To the event that the request left: the started one, or the one that attached its request ID."""
    event = Link.WorkflowEvent(
        namespace=request.namespace, workflow_id=request.workflow_id, run_id=started.run_id
    )
    if started.attached:
        event.request_id_ref.request_id = request.request_id
        event.request_id_ref.event_type = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_OPTIONS_UPDATED
    else:
        event.event_ref.event_id = 1
        event.event_ref.event_type = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED
    return Link(workflow_event=event)
