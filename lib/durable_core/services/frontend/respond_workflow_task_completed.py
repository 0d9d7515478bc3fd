"""RespondWorkflowTaskCompleted: the worker's commands become events, or the task fails for a bad one."""

from dataclasses import dataclass, field

from temporalio.api.enums.v1 import WorkflowTaskFailedCause
from temporalio.api.failure.v1 import Failure, ServerFailureInfo
from temporalio.api.workflowservice.v1 import (
    RespondWorkflowTaskCompletedRequest,
    RespondWorkflowTaskCompletedResponse,
)

from durable_core.engine import activities, checks, closing, command_table, updates, workflow_tasks
from durable_core.engine.completion import BadCommand, Completion
from durable_core.engine.transition import Transition
from durable_core.engine.workflow_tasks import Claim
from durable_core.machines.workflow_task import clear_sticky
from durable_core.model import limits, task_tokens
from durable_core.model.errors import InvalidArgument, NotFound, Unimplemented
from durable_core.model.ids import RunKey
from durable_core.model.namespace import Namespace
from durable_core.model.state import ActivityInfo, RunState, WorkflowTaskInfo
from durable_core.ports.notifications import QueryTopic
from durable_core.ports.queries import QueryAnswer
from durable_core.services import claims, lookup
from durable_core.services.context import Context

_Request = RespondWorkflowTaskCompletedRequest
_REQUEST_FROM_REPLY = "request-from-RespondWorkflowTaskCompleted"


@dataclass(slots=True)
class _Outcome:
    """`failed`: the task failed for this reason; it is told to the worker once that is stored."""

    state: RunState
    failed: str = ""
    heartbeat_expired: bool = False
    reset_to: int = 0
    new_task: WorkflowTaskInfo | None = None
    with_queries: bool = False
    eager: list[ActivityInfo] = field(default_factory=list)


def respond_workflow_task_completed(
    context: Context, request: _Request
) -> RespondWorkflowTaskCompletedResponse:
    namespace, token = lookup.of_token(
        context, request.namespace, task_tokens.workflow_task, request.task_token
    )
    _check(request)
    command_table.check_sequence(request.commands)
    key = RunKey(token.namespace_id, token.workflow_id, token.run_id)

    def decide(t: Transition) -> _Outcome:
        task = workflow_tasks.started_task(t, token.scheduled_event_id, token.started_event_id, token.attempt)
        try:
            return _complete(context, t, task, request, namespace)
        except BadCommand as bad:
            return _fail(t, task, request, bad)

    outcome = context.runs.update(key, decide)
    for query_id, result in request.query_results.items():
        if context.queries.answer(query_id, QueryAnswer(result.SerializeToString())):
            context.notifications.publish(QueryTopic(query_id))
    if outcome.heartbeat_expired:
        raise NotFound("workflow task heartbeat timeout")
    if outcome.failed:
        raise InvalidArgument(outcome.failed)
    reply = RespondWorkflowTaskCompletedResponse(
        activity_tasks=[claims.activity_task(context, outcome.state, info) for info in outcome.eager],
        reset_history_event_id=outcome.reset_to,
    )
    if outcome.new_task is not None:
        task = claims.workflow_task(
            context, outcome.state, outcome.new_task, partial=True, with_queries=outcome.with_queries
        )
        reply.workflow_task.CopyFrom(task)
    return reply


def _check(request: _Request) -> None:
    if request.ByteSize() > limits.workflow_task_completion_bytes_max:
        raise InvalidArgument("Workflow task completion exceeds size limit.")
    if request.versioning_behavior:
        raise Unimplemented("Worker versioning is not supported yet.")


def _complete(
    context: Context, t: Transition, task: WorkflowTaskInfo, request: _Request, namespace: Namespace
) -> _Outcome:
    core = t.state.core
    only_heartbeat = request.force_create_new_workflow_task and not request.commands
    if only_heartbeat and t.now > task.original_scheduled_at + limits.workflow_task_heartbeat_timeout:
        clear_sticky(core)
        workflow_tasks.time_out_heartbeat(t)
        return _Outcome(t.state, heartbeat_expired=True)
    event_waits = t.has_buffered
    updates.forget_rejected(t)
    if _leaves_no_trace(t, task, request):
        return _drop(t, request)
    completed = workflow_tasks.complete(t, task, request)
    _set_sticky(t, request)
    completion = Completion(
        t,
        namespace,
        context.namespaces.named,
        completed.event_id,
        request.identity,
        event_waits,
        {message.id: message for message in request.messages},
    )
    command_table.apply_all(completion, request.commands)
    outcome = _Outcome(t.state)
    if not t.state.is_open:
        return outcome
    if not request.force_create_new_workflow_task:
        updates.reject_unprocessed(t)
    _start_eager(context, t, completion, request, outcome)
    if request.force_create_new_workflow_task or completion.event_waits or completion.wants_workflow_task:
        _schedule_next(t, task, request, outcome, only_heartbeat=only_heartbeat)
    else:
        t.flush()
        _schedule_for_updates(t, request, outcome)
    return outcome


def _leaves_no_trace(t: Transition, task: WorkflowTaskInfo, request: _Request) -> bool:
    """Whether a speculative task did nothing but reject updates, right behind the last task's completion."""
    core = t.state.core
    return (
        task.speculative
        and not request.commands
        and not request.force_create_new_workflow_task
        and core.next_event_id == core.last_workflow_task_started_id + 2
        and updates.only_rejections(list(request.messages))
    )


def _drop(t: Transition, request: _Request) -> _Outcome:
    """The task is as if it had never been; the worker goes back to where it was before."""
    core = t.state.core
    core.workflow_task = None
    t.is_dirty = True
    for message in request.messages:
        updates.receive(t, message)
    updates.reject_unprocessed(t)
    _set_sticky(t, request)
    outcome = _Outcome(t.state, reset_to=core.last_workflow_task_started_id)
    if t.has_buffered:
        t.flush()
        t.wants_workflow_task = True
    else:
        _schedule_for_updates(t, request, outcome)
    return outcome


def _schedule_for_updates(t: Transition, request: _Request, outcome: _Outcome) -> None:
    """Updates that came meanwhile are brought by a task of their own, in the reply where that was asked for."""
    if not updates.has_admitted(t.state):
        return
    in_reply = request.return_new_workflow_task
    workflow_tasks.schedule(t, dispatch=not in_reply, speculative=in_reply)
    if in_reply:
        _start_in_reply(t, request, outcome)


def _set_sticky(t: Transition, request: _Request) -> None:
    core = t.state.core
    sticky = request.sticky_attributes
    if request.HasField("sticky_attributes") and sticky.worker_task_queue.name:
        core.sticky_queue = sticky.worker_task_queue.name
        core.sticky_timeout = (
            checks.valid_duration(sticky.schedule_to_start_timeout) or limits.sticky_schedule_to_start_default
        )
    else:
        clear_sticky(core)


def _start_eager(
    context: Context, t: Transition, completion: Completion, request: _Request, outcome: _Outcome
) -> None:
    """Hand the worker the activities it asked to run itself, where they are still there."""
    version = request.worker_version_stamp if request.HasField("worker_version_stamp") else None
    for scheduled_event_id in completion.eager:
        info = t.state.activities.get(scheduled_event_id)
        if info is not None:
            claim = Claim(context.ids.unique(), request.identity, version)
            outcome.eager.append(activities.start(t, info, claim))


def _schedule_next(
    t: Transition, task: WorkflowTaskInfo, request: _Request, outcome: _Outcome, *, only_heartbeat: bool
) -> None:
    """The next task follows at once; it is started for the same worker if that asked for it."""
    original = task.original_scheduled_at if only_heartbeat else None
    in_reply = request.return_new_workflow_task
    workflow_tasks.schedule(t, dispatch=not in_reply, original_scheduled_at=original)
    if in_reply:
        _start_in_reply(t, request, outcome)


def _start_in_reply(t: Transition, request: _Request, outcome: _Outcome) -> None:
    version = request.worker_version_stamp if request.HasField("worker_version_stamp") else None
    claim = Claim(_REQUEST_FROM_REPLY, request.identity, version)
    outcome.with_queries = t.state.core.queries_wait
    outcome.new_task = workflow_tasks.start(t, claim)
    updates.send(t)


def _fail(t: Transition, task: WorkflowTaskInfo, request: _Request, bad: BadCommand) -> _Outcome:
    """None of the commands counts: the task failed. A task that keeps failing is left to its time-out."""
    unhandled = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND
    if task.attempt > 1 and bad.cause != unhandled:
        raise InvalidArgument(bad.message)
    t.restart()
    failure = Failure(message=bad.message, server_failure_info=ServerFailureInfo())
    workflow_tasks.fail(t, task, bad.cause, failure, request.identity, request.binary_checksum)
    if bad.terminates:
        closing.terminate(t, bad.message, None, closing.IDENTITY_HISTORY_SERVICE)
    else:
        workflow_tasks.schedule(t)
    return _Outcome(t.state, failed=bad.message)
