"""PollWorkflowExecutionUpdate: wait for a stage of an update that was sent before."""

from temporalio.api.workflowservice.v1 import (
    PollWorkflowExecutionUpdateRequest,
    PollWorkflowExecutionUpdateResponse,
)

from durable_core.model import limits
from durable_core.model.errors import DeadlineExceeded, InvalidArgument, NotFound
from durable_core.model.ids import RunKey
from durable_core.model.state import UpdateStage
from durable_core.model.times import SECOND
from durable_core.services import lookup, updates
from durable_core.services.calls import Call, Wait
from durable_core.services.context import Context


def poll_workflow_execution_update(
    context: Context, request: PollWorkflowExecutionUpdateRequest, call: Call
) -> PollWorkflowExecutionUpdateResponse | Wait:
    namespace = context.namespaces.named(request.namespace)
    if not request.HasField("update_ref"):
        raise InvalidArgument("UpdateRef is not set on request.")
    update_id = request.update_ref.update_id
    now = context.clock.now()
    key: RunKey
    since: int
    if call.resume is None:
        execution = request.update_ref.workflow_execution
        key, since = lookup.run_key(context, namespace.namespace_id, execution), now
    else:
        key, since = call.resume
    state = context.runs.read(key)
    info = state.updates.get(update_id)
    if info is None or (info.stage == UpdateStage.REJECTED and call.resume is None):
        raise NotFound(f'update "{update_id}" not found')
    made = updates.progress(context, state, info)
    reached = made.stage >= request.wait_policy.lifecycle_stage
    if reached or (call.last and updates.has_waited(now - since)):
        return PollWorkflowExecutionUpdateResponse(
            outcome=made.outcome, stage=made.stage, update_ref=updates.reference(key, update_id)
        )
    if call.last:
        raise DeadlineExceeded("Deadline Exceeded")
    return Wait((key,), limits.long_poll_update / SECOND, resume=(key, since))
