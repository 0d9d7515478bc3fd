"""QueryWorkflow: ask a worker about the state of a workflow, with every event before the query taken into account.

A query rides along with a workflow task that is pending; where none is, it is asked apart from one. The run notes that
queries wait to ride along, so that claims of workflow tasks need not look for them otherwise.
"""

from dataclasses import dataclass

from temporalio.api.enums.v1 import (
    QueryRejectCondition,
    QueryResultType,
    ResourceExhaustedCause,
    WorkflowExecutionStatus,
)
from temporalio.api.query.v1 import QueryRejected, WorkflowQueryResult
from temporalio.api.workflowservice.v1 import QueryWorkflowRequest, QueryWorkflowResponse

from durable_core.engine.transition import Transition
from durable_core.model import limits
from durable_core.model.errors import (
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
    QueryFailed,
    ResourceExhausted,
    WorkflowNotReady,
)
from durable_core.model.ids import QueueKey, QueueKind, RunKey
from durable_core.model.state import RunState
from durable_core.model.tasks import QueryTask, Task
from durable_core.model.times import SECOND
from durable_core.ports.notifications import QueryTopic
from durable_core.ports.queries import PendingQuery
from durable_core.services import lookup
from durable_core.services.calls import Call, Wait
from durable_core.services.context import Context

_Reject = QueryRejectCondition


@dataclass(frozen=True, slots=True)
class _Asked:
    """`direct_at`: when it was asked apart from workflow tasks (0: it rides along), on `queue`."""

    run: RunKey
    query_id: str
    give_up_at: int
    direct_at: int = 0
    queue: str = ""


def query_workflow(
    context: Context, request: QueryWorkflowRequest, call: Call
) -> QueryWorkflowResponse | Wait:
    if call.resume is None:
        return _ask(context, request, call)
    asked: _Asked = call.resume
    taken = context.queries.take_answer(asked.query_id)
    if taken is not None:
        return _reply(WorkflowQueryResult.FromString(taken.answer))
    now = context.clock.now()
    if call.last or now >= asked.give_up_at:
        context.queries.remove(asked.query_id)
        raise _nobody_answered(context, asked)
    return _wait(context, request, asked, now)


def abandon_query(context: Context, request: QueryWorkflowRequest, resume: _Asked | None) -> None:
    """The caller left: nobody needs the answer."""
    if resume is not None:
        context.queries.remove(resume.query_id)


def _ask(context: Context, request: QueryWorkflowRequest, call: Call) -> QueryWorkflowResponse | Wait:
    namespace = context.namespaces.named(request.namespace)
    lookup.check_present(request, "execution")
    lookup.check_execution(request.execution)
    if not request.HasField("query"):
        raise InvalidArgument("WorkflowQuery is not set on request.")
    if not request.query.query_type:
        raise InvalidArgument("QueryType is not set on request.")
    if request.query.query_args.ByteSize() > limits.blob_bytes_max:
        raise InvalidArgument("Blob data size exceeds limit.")
    key = lookup.run_key(context, namespace.namespace_id, request.execution)
    state = context.runs.read(key)
    rejected = _rejected(request, state)
    if rejected is not None:
        return rejected
    if not state.is_open and not state.core.last_workflow_task_started_id:
        raise WorkflowNotReady("Workflow execution closed before WorkflowTaskStarted event")
    if _rides_along(state) and len(context.queries.pending(key)) >= limits.queries_buffered_max:
        raise ResourceExhausted(
            "consistent query buffer is full, this may be caused by too many queries and workflow not able to "
            "process query fast enough",
            ResourceExhaustedCause.RESOURCE_EXHAUSTED_CAUSE_BUSY_WORKFLOW,
        )
    now = context.clock.now()
    give_up_at = min(call.deadline, now + limits.query_timeout)
    asked = _Asked(key, context.ids.unique(), give_up_at)
    _put(context, request, asked)
    return _wait(context, request, asked, now)


def _put(context: Context, request: QueryWorkflowRequest, asked: _Asked) -> None:
    query = PendingQuery(asked.query_id, asked.run, request.query.SerializeToString(), asked.give_up_at)
    context.queries.put(query)


def _rejected(request: QueryWorkflowRequest, state: RunState) -> QueryWorkflowResponse | None:
    condition = request.query_reject_condition
    status = state.core.status
    completed = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED
    not_open = condition == _Reject.QUERY_REJECT_CONDITION_NOT_OPEN and not state.is_open
    unclean = condition == _Reject.QUERY_REJECT_CONDITION_NOT_COMPLETED_CLEANLY
    if not_open or (unclean and not state.is_open and status != completed):
        rejected = QueryRejected(status=WorkflowExecutionStatus.ValueType(status))
        return QueryWorkflowResponse(query_rejected=rejected)
    return None


def _rides_along(state: RunState) -> bool:
    """Whether a workflow task is pending, or the first one is still to come."""
    core = state.core
    return state.is_open and (core.workflow_task is not None or not core.last_workflow_task_completed_id)


def _wait(context: Context, request: QueryWorkflowRequest, asked: _Asked, now: int) -> Wait:
    """Wait for the answer; ask apart from workflow tasks as soon as none is pending."""
    state = context.runs.read(asked.run)
    overdue = asked.direct_at and asked.queue != state.core.queue and _silent(state, asked, now)
    if overdue:
        # The sticky worker does not answer: its queue is given up for this query.
        context.queries.remove(asked.query_id)
        asked = _Asked(asked.run, context.ids.unique(), asked.give_up_at)
        _put(context, request, asked)
    if not asked.direct_at and _rides_along(state):
        _note(context, asked.run, state)
    elif not asked.direct_at:
        asked = _send(context, asked, state, now, sticky=not overdue)
    sticky = asked.direct_at and asked.queue != state.core.queue
    look_again = _patience(state) / SECOND if sticky else 0.0
    topics = (QueryTopic(asked.query_id), asked.run)
    return Wait(topics, limits.query_timeout / SECOND, asked, look_again)


def _note(context: Context, run: RunKey, state: RunState) -> None:
    """Let the run know that a query waits for its next workflow task."""

    def decide(t: Transition) -> None:
        if _rides_along(t.state) and not t.state.core.queries_wait:
            t.state.core.queries_wait = True
            t.is_dirty = True

    if not state.core.queries_wait:
        context.runs.update_if_there(run, decide)


def _patience(state: RunState) -> int:
    return state.core.sticky_timeout or limits.sticky_schedule_to_start_default


def _silent(state: RunState, asked: _Asked, now: int) -> bool:
    return now >= asked.direct_at + _patience(state)


def _send(context: Context, asked: _Asked, state: RunState, now: int, *, sticky: bool) -> _Asked:
    """Send the query as a task of its own."""
    core = state.core
    queue = core.queue
    if sticky and core.sticky_queue:
        key = QueueKey(core.namespace_id, core.sticky_queue, QueueKind.WORKFLOW)
        if now - context.pollers.last_seen(key) <= limits.sticky_poller_silence_max:
            queue = core.sticky_queue
    run = asked.run
    task = Task(
        0,
        run.namespace_id,
        run.workflow_id,
        run.run_id,
        queue,
        int(QueueKind.WORKFLOW),
        QueryTask(asked.query_id),
    )
    context.task_queues.send([task])
    context.notifications.publish(task.queue)
    return _Asked(run, asked.query_id, asked.give_up_at, now, queue)


def _reply(result: WorkflowQueryResult) -> QueryWorkflowResponse:
    if result.result_type == QueryResultType.QUERY_RESULT_TYPE_FAILED:
        raise QueryFailed(result.error_message, result.failure if result.HasField("failure") else None)
    return QueryWorkflowResponse(query_result=result.answer if result.HasField("answer") else None)


def _nobody_answered(context: Context, asked: _Asked) -> Exception:
    """No worker at all is another trouble than a slow one."""
    state = context.runs.read(asked.run)
    queue = QueueKey(state.core.namespace_id, state.core.queue, QueueKind.WORKFLOW)
    silence = context.clock.now() - context.pollers.last_seen(queue)
    if asked.direct_at and silence > limits.poller_seen_recently:
        return FailedPrecondition("no poller seen for task queue recently, worker may be down")
    return DeadlineExceeded("Deadline Exceeded")
