"""UpdateWorkflowExecution: send an update and wait until it is accepted, or completed."""

from dataclasses import dataclass

from temporalio.api.enums.v1 import ResourceExhaustedCause
from temporalio.api.update.v1 import Request
from temporalio.api.workflowservice.v1 import (
    UpdateWorkflowExecutionRequest,
    UpdateWorkflowExecutionResponse,
)

from durable_core.engine import updates as engine
from durable_core.engine.transition import Transition
from durable_core.model import limits
from durable_core.model.errors import DeadlineExceeded, NotFound, ResourceExhausted
from durable_core.model.ids import RunKey
from durable_core.model.state import UpdateStage
from durable_core.model.times import SECOND
from durable_core.services import lookup, updates
from durable_core.services.calls import Call, Wait
from durable_core.services.context import Context


@dataclass(frozen=True, slots=True)
class _Sent:
    """The update as it was sent, and when (ns)."""

    key: RunKey
    request: Request
    admission: str
    at: int


def update_workflow_execution(
    context: Context, request: UpdateWorkflowExecutionRequest, call: Call
) -> UpdateWorkflowExecutionResponse | Wait:
    sent: _Sent = call.resume if call.resume is not None else _send(context, request)
    state = context.runs.read(sent.key)
    info = state.updates.get(sent.request.meta.update_id)
    if info is None:
        raise NotFound(f'update "{sent.request.meta.update_id}" not found')
    made = updates.progress(context, state, info)
    wanted = (
        request.wait_policy.lifecycle_stage
        or updates.Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ACCEPTED
    )
    if made.stage >= wanted or (call.last and updates.has_waited(context.clock.now() - sent.at)):
        return updates.response(sent.key, request.namespace, sent.request, made)
    if call.last:
        raise DeadlineExceeded("Deadline Exceeded")
    return Wait((sent.key,), limits.long_poll_update / SECOND, resume=sent)


def _send(context: Context, request: UpdateWorkflowExecutionRequest) -> _Sent:
    namespace = context.namespaces.named(request.namespace)
    lookup.check_present(request, "workflow_execution")
    lookup.check_execution(request.workflow_execution)
    updates.check_request(request.request, request.HasField("request"))
    updates.check_stage(request.wait_policy.lifecycle_stage)
    update = Request()
    update.CopyFrom(request.request)
    update.meta.update_id = update.meta.update_id or context.ids.unique()
    admission = context.ids.unique()

    def decide(t: Transition) -> None:
        first = request.first_execution_run_id
        if first and first != t.state.core.first_run_id:
            raise NotFound("workflow execution not found")
        known = t.state.updates.get(update.meta.update_id)
        if known is None or known.stage == UpdateStage.REJECTED:
            lookup.require_open(t.state)
            task = t.state.core.workflow_task
            if t.state.core.close_attempted and task is not None and task.started_event_id:
                raise ResourceExhausted(
                    "workflow operation can not be applied because workflow is closing",
                    ResourceExhaustedCause.RESOURCE_EXHAUSTED_CAUSE_BUSY_WORKFLOW,
                )
        engine.admit(t, update, admission)

    key, _ = lookup.update(context, namespace.namespace_id, request.workflow_execution, decide)
    return _Sent(key, update, admission, context.clock.now())
