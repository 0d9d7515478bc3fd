"""StartWorkflowExecution."""

from temporalio.api.enums.v1 import WorkflowExecutionStatus
from temporalio.api.workflowservice.v1 import (
    PollWorkflowTaskQueueResponse,
    StartWorkflowExecutionRequest,
    StartWorkflowExecutionResponse,
)

from durable_core.engine import starting
from durable_core.engine.transition import Transition
from durable_core.engine.workflow_tasks import Claim
from durable_core.model.ids import WorkflowKey
from durable_core.model.state import RunState
from durable_core.services import claims, start_requests, starts
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

    eager = Claim(starter.request_id, request.identity) if start_requests.accepts_eager(request) else None
    begun: list[RunState] = []

    def begin() -> Transition:
        t = start_requests.begin(request, namespace, new, now, context.ids, eager=eager)
        begun[:] = [t.state]
        return t

    key = WorkflowKey(namespace.namespace_id, request.workflow_id)
    started = starts.start(context, key, chosen, starter, begin)
    reply = StartWorkflowExecutionResponse(
        run_id=started.run_id,
        first_execution_run_id=started.first_run_id,
        started=started.new,
        status=WorkflowExecutionStatus.ValueType(started.status),
        link=starts.link(request, started),
    )
    if eager is not None and started.run_id == new.run_id:
        reply.eager_workflow_task.CopyFrom(_eager_task(context, begun[0]))
    return reply


def _eager_task(context: Context, state: RunState) -> PollWorkflowTaskQueueResponse:
    task = state.core.workflow_task
    assert task is not None
    return claims.workflow_task(context, state, task, partial=False, with_queries=False)
