"""ExecuteMultiOperation: update-with-start, the one pair of operations there is.

The update and the start it may need are one transition: either the workflow runs with the update admitted, or nothing
has happened.
"""

from dataclasses import dataclass

from temporalio.api.enums.v1 import WorkflowExecutionStatus
from temporalio.api.update.v1 import Request
from temporalio.api.workflowservice.v1 import (
    ExecuteMultiOperationRequest,
    ExecuteMultiOperationResponse,
    StartWorkflowExecutionRequest,
    StartWorkflowExecutionResponse,
    UpdateWorkflowExecutionRequest,
)

from durable_core.engine import starting
from durable_core.engine import updates as engine
from durable_core.engine.transition import Transition
from durable_core.model import limits
from durable_core.model.errors import (
    DeadlineExceeded,
    InvalidArgument,
    MultiOperationFailed,
    NotFound,
    OperationAborted,
    ServiceError,
)
from durable_core.model.ids import RunKey, WorkflowKey
from durable_core.model.namespace import Namespace
from durable_core.model.state import RunState, UpdateStage
from durable_core.model.times import SECOND
from durable_core.services import start_requests, starts, updates
from durable_core.services.calls import Call, Wait
from durable_core.services.context import Context
from durable_core.services.unit_of_work import Start

_FAILED = "Update-with-Start could not be executed."
_Response = ExecuteMultiOperationResponse.Response


@dataclass(frozen=True, slots=True)
class _Sent:
    """The run that serves both; `known`: the update had been sent before; `at` in ns."""

    key: RunKey
    started: starts.Started
    update: Request
    known: bool
    at: int


def execute_multi_operation(
    context: Context, request: ExecuteMultiOperationRequest, call: Call
) -> ExecuteMultiOperationResponse | Wait:
    start, change = _operations(request)
    sent: _Sent = call.resume if call.resume is not None else _send(context, request, start, change)
    try:
        reply = _reply(context, sent, start, change, call)
    except ServiceError as error:
        raise MultiOperationFailed(_FAILED, [OperationAborted(), error]) from error
    if reply is not None:
        return reply
    return Wait((sent.key,), limits.long_poll_update / SECOND, resume=sent)


def _operations(
    request: ExecuteMultiOperationRequest,
) -> tuple[StartWorkflowExecutionRequest, UpdateWorkflowExecutionRequest]:
    kinds = [operation.WhichOneof("operation") for operation in request.operations]
    if kinds != ["start_workflow", "update_workflow"]:
        raise InvalidArgument("Operations have to be exactly [Start, Update].")
    return request.operations[0].start_workflow, request.operations[1].update_workflow


def _send(
    context: Context,
    request: ExecuteMultiOperationRequest,
    start: StartWorkflowExecutionRequest,
    change: UpdateWorkflowExecutionRequest,
) -> _Sent:
    namespace = context.namespaces.named(request.namespace)
    try:
        _check_start(request, start, namespace)
    except ServiceError as error:
        raise MultiOperationFailed(_FAILED, [error, OperationAborted()]) from error
    try:
        _check_update(request, start, change)
    except ServiceError as error:
        raise MultiOperationFailed(_FAILED, [OperationAborted(), error]) from error
    return _admit(context, namespace, start, change)


def _check_start(
    request: ExecuteMultiOperationRequest, start: StartWorkflowExecutionRequest, namespace: Namespace
) -> None:
    if start.namespace and start.namespace != request.namespace:
        raise InvalidArgument("Operation namespace did not match request's namespace.")
    if start.cron_schedule:
        raise InvalidArgument("CronSchedule is not allowed.")
    if start.request_eager_execution:
        raise InvalidArgument("RequestEagerExecution is not supported.")
    if start.HasField("workflow_start_delay"):
        raise InvalidArgument("WorkflowStartDelay is not supported.")
    start_requests.check(start, namespace)
    start_requests.policies(start.workflow_id_reuse_policy, start.workflow_id_conflict_policy)


def _check_update(
    request: ExecuteMultiOperationRequest,
    start: StartWorkflowExecutionRequest,
    change: UpdateWorkflowExecutionRequest,
) -> None:
    if change.namespace and change.namespace != request.namespace:
        raise InvalidArgument("Operation namespace did not match request's namespace.")
    if change.workflow_execution.workflow_id != start.workflow_id:
        raise InvalidArgument("WorkflowId is not consistent with previous operation(s).")
    if change.workflow_execution.run_id:
        raise InvalidArgument("RunId is not allowed.")
    if change.first_execution_run_id:
        raise InvalidArgument("FirstExecutionRunId is not allowed.")
    updates.check_request(change.request, change.HasField("request"))
    updates.check_stage(change.wait_policy.lifecycle_stage)


def _admit(
    context: Context,
    namespace: Namespace,
    start: StartWorkflowExecutionRequest,
    change: UpdateWorkflowExecutionRequest,
) -> _Sent:
    """The one transition."""
    now = context.clock.now()
    update = Request()
    update.CopyFrom(change.request)
    update.meta.update_id = update.meta.update_id or context.ids.unique()
    admission = context.ids.unique()
    starter = starts.Starter(
        start.request_id or context.ids.unique(),
        start.identity,
        start.on_conflict_options if start.HasField("on_conflict_options") else None,
        list(start.links),
    )
    new = starting.NewRun(namespace.namespace_id, namespace.name, context.ids.run_id(now), starter.request_id)

    def begin() -> Transition:
        return start_requests.begin(start, namespace, new, now, context.ids)

    chosen = start_requests.policies(start.workflow_id_reuse_policy, start.workflow_id_conflict_policy)
    decide_start = starts.decision(context, chosen, starter, begin)

    def decide(current: RunState | None) -> Start[tuple[starts.Started, bool]]:
        if current is not None and _is_known(current, update):
            core = current.core
            found = starts.Started(core.run_id, core.first_run_id, core.status, new=False)
            return Start((found, True))
        plan = decide_start(current)
        existing = plan.existing
        if plan.new is not None:
            engine.admit(plan.new, update, admission)
        else:
            assert current is not None
            existing = existing or context.runs.fork(current)
            engine.admit(existing, update, admission)
        return Start((plan.result, False), new=plan.new, existing=existing)

    key = WorkflowKey(namespace.namespace_id, start.workflow_id)
    try:
        started, known = context.runs.start(key, decide)
    except ServiceError as error:
        raise MultiOperationFailed(_FAILED, [error, OperationAborted()]) from error
    return _Sent(key.run(started.run_id), started, update, known, now)


def _is_known(state: RunState, update: Request) -> bool:
    info = state.updates.get(update.meta.update_id)
    return info is not None and info.stage != UpdateStage.REJECTED


def _reply(
    context: Context,
    sent: _Sent,
    start: StartWorkflowExecutionRequest,
    change: UpdateWorkflowExecutionRequest,
    call: Call,
) -> ExecuteMultiOperationResponse | None:
    state = context.runs.read(sent.key)
    info = state.updates.get(sent.update.meta.update_id)
    if info is None:
        raise NotFound(f'update "{sent.update.meta.update_id}" not found')
    made = updates.progress(context, state, info)
    wanted = (
        change.wait_policy.lifecycle_stage or updates.Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ACCEPTED
    )
    if made.stage < wanted:
        if not call.last:
            return None
        if not updates.has_waited(context.clock.now() - sent.at):
            raise DeadlineExceeded("Deadline Exceeded")
    updated = updates.response(sent.key, change.namespace or start.namespace, sent.update, made)
    if sent.known:
        updated.ClearField("link")
    return ExecuteMultiOperationResponse(
        responses=[_Response(start_workflow=_started(sent, start)), _Response(update_workflow=updated)]
    )


def _started(sent: _Sent, start: StartWorkflowExecutionRequest) -> StartWorkflowExecutionResponse:
    """What the start's own reply would say; less where there was nothing to start."""
    started = sent.started
    return StartWorkflowExecutionResponse(
        run_id=started.run_id,
        started=started.new,
        status=WorkflowExecutionStatus.ValueType(started.status),
        link=None if sent.known else starts.link(start, started),
        first_execution_run_id=started.first_run_id if started.new else "",
    )
