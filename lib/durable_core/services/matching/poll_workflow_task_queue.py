"""PollWorkflowTaskQueue: a workflow task, or a query, for a worker."""

from temporalio.api.common.v1 import WorkflowExecution, WorkflowType
from temporalio.api.enums.v1 import TaskQueueKind
from temporalio.api.query.v1 import WorkflowQuery
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import PollWorkflowTaskQueueRequest, PollWorkflowTaskQueueResponse

from durable_core.engine import updates, workflow_tasks
from durable_core.engine.transition import Transition
from durable_core.engine.workflow_tasks import Claim
from durable_core.machines.workflow_task import clear_sticky
from durable_core.model import limits, task_tokens
from durable_core.model.ids import QueueKind
from durable_core.model.state import RunState, WorkflowTaskInfo
from durable_core.model.tasks import QueryTask, Task, WorkflowTask
from durable_core.services import claims, polling
from durable_core.services.calls import Call, Wait
from durable_core.services.context import Context

_Reply = PollWorkflowTaskQueueResponse


def poll_workflow_task_queue(
    context: Context, request: PollWorkflowTaskQueueRequest, call: Call
) -> _Reply | Wait:
    def claim(task: Task) -> _Reply | None:
        if isinstance(task.body, WorkflowTask):
            return _claim(context, request, task, task.body)
        assert isinstance(task.body, QueryTask)
        return _query(context, request.task_queue.name, task, task.body)

    return polling.poll(context, request, call, QueueKind.WORKFLOW, _Reply, claim)


def _claim(
    context: Context, request: PollWorkflowTaskQueueRequest, task: Task, body: WorkflowTask
) -> _Reply | None:
    """Start the task for this poller, or None when its message is stale."""
    version = claims.worker_version(request.worker_version_capabilities)
    claim = Claim(context.ids.unique(), request.identity, version)

    def decide(t: Transition) -> tuple[RunState, WorkflowTaskInfo, bool] | None:
        core = t.state.core
        pending = core.workflow_task
        if not t.state.is_open or pending is None or pending.started_event_id or pending.stamp != body.stamp:
            return None
        if core.sticky_queue and core.sticky_queue != request.task_queue.name:
            # The sticky worker fell silent and the task went to the normal queue: its history is sent in full.
            clear_sticky(core)
        with_queries = core.queries_wait
        t.claimed = body
        started = workflow_tasks.start(t, claim)
        updates.send(t)
        return t.state, started, with_queries

    claimed = context.runs.update_if_there(task.run, decide)
    if claimed is None:
        return None
    state, started, with_queries = claimed
    partial = bool(state.core.sticky_queue) and started.attempt == 1
    return claims.workflow_task(context, state, started, partial=partial, with_queries=with_queries)


def _query(context: Context, queue: str, task: Task, body: QueryTask) -> _Reply | None:
    """A query that is asked apart from workflow tasks; on a sticky queue the worker has the history already."""
    query = context.queries.get(body.query_id)
    state = context.runs.find(task.run)
    if query is None or state is None:
        return None
    core = state.core
    token = task_tokens.QueryTaskToken(core.namespace_id, queue, body.query_id)
    reply = _Reply(
        task_token=task_tokens.encode(token),
        workflow_execution=WorkflowExecution(workflow_id=core.workflow_id, run_id=core.run_id),
        workflow_type=WorkflowType(name=core.workflow_type),
        previous_started_event_id=core.last_workflow_task_started_id,
        attempt=1,
        query=WorkflowQuery.FromString(query.request),
        workflow_execution_task_queue=TaskQueue(name=core.queue, kind=TaskQueueKind.TASK_QUEUE_KIND_NORMAL),
    )
    reply.history.SetInParent()
    if queue == core.sticky_queue:
        return reply
    page = context.reader.page(core, 1, core.next_event_id, nodes_max=limits.workflow_task_history_nodes)
    reply.history.events.extend(page.events)
    if page.next_event_id:
        following = task_tokens.HistoryPageToken(
            core.run_id, page.next_event_id, core.next_event_id, was_open=True
        )
        reply.next_page_token = task_tokens.encode(following)
    return reply
