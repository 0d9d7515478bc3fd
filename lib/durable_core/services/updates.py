"""What callers are told of an update: how far it has come, and its outcome."""

from dataclasses import dataclass

from temporalio.api.common.v1 import Link, WorkflowExecution
from temporalio.api.enums.v1 import (
    EventType,
    ResourceExhaustedCause,
    UpdateWorkflowExecutionLifecycleStage,
)
from temporalio.api.failure.v1 import Failure
from temporalio.api.update.v1 import Outcome, Request, UpdateRef
from temporalio.api.workflowservice.v1 import UpdateWorkflowExecutionResponse

from durable_core.engine import checks, updates
from durable_core.model import limits
from durable_core.model.errors import InvalidArgument, NotFound, PermissionDenied, ResourceExhausted
from durable_core.model.ids import RunKey
from durable_core.model.state import RunState, UpdateInfo, UpdateStage
from durable_core.services.context import Context

Stage = UpdateWorkflowExecutionLifecycleStage
_ADMITTED = Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ADMITTED
_ACCEPTED = Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ACCEPTED
_COMPLETED = Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED
_STAGES: dict[int, "UpdateWorkflowExecutionLifecycleStage.ValueType"] = {
    UpdateStage.ADMITTED: _ADMITTED,
    UpdateStage.SENT: _ADMITTED,
    UpdateStage.ACCEPTED: _ACCEPTED,
    UpdateStage.COMPLETED: _COMPLETED,
    UpdateStage.REJECTED: _COMPLETED,
}


@dataclass(frozen=True, slots=True)
class Progress:
    """The stage that an update has reached, and its outcome once it has one."""

    stage: "UpdateWorkflowExecutionLifecycleStage.ValueType"
    outcome: Outcome | None = None


def check_request(request: Request, given: bool) -> None:
    """Raise `InvalidArgument` for an update that no workflow could take."""
    if not given or not request.HasField("meta"):
        raise InvalidArgument("Update meta is not set on request.")
    if checks.too_long(request.meta.update_id):
        raise InvalidArgument("UpdateId length exceeds limit.")
    if not request.HasField("input"):
        raise InvalidArgument("Update input is not set on request.")
    if not request.input.name:
        raise InvalidArgument("Update name is not set on request.")
    if request.input.args.ByteSize() > limits.blob_bytes_max:
        raise InvalidArgument("Blob data size exceeds limit.")


def check_stage(stage: "UpdateWorkflowExecutionLifecycleStage.ValueType") -> None:
    """A caller waits for acceptance or for completion; nobody waits for admission alone."""
    if stage == _ADMITTED:
        raise PermissionDenied(
            "UpdateWorkflowExecution issued asynchronously and waiting on update admitted is not supported."
        )


def has_waited(waited: int) -> bool:
    """Whether a caller waited (ns) as long as we let it, rather than as long as it had."""
    return waited >= limits.long_poll_update - limits.long_poll_margin


def progress(context: Context, state: RunState, info: UpdateInfo) -> Progress:
    """How far the update has come. Raises where its workflow ended before taking it in."""
    if info.stage == UpdateStage.COMPLETED:
        event = context.reader.event(state.core, info.completed_event_id)
        return Progress(_COMPLETED, event.workflow_execution_update_completed_event_attributes.outcome)
    if info.stage == UpdateStage.REJECTED:
        return Progress(_COMPLETED, Outcome(failure=Failure.FromString(info.rejection)))
    if state.is_open:
        return Progress(_STAGES[info.stage])
    if info.stage == UpdateStage.ACCEPTED:
        return Progress(_COMPLETED, Outcome(failure=updates.CLOSED_BEFORE_COMPLETION))
    raise _aborted(context, state)


def _aborted(context: Context, state: RunState) -> Exception:
    """The run closed. If another one goes on in its place, the caller should send the update there."""
    core = state.core
    key = RunKey(core.namespace_id, core.workflow_id, core.run_id)
    current = context.runs.find(key.workflow.run(context.runs.current_run_id(key.workflow)))
    if current is not None and current.core.continued_run_id == core.run_id:
        return ResourceExhausted(
            "workflow operation can not be applied because workflow is closing",
            ResourceExhaustedCause.RESOURCE_EXHAUSTED_CAUSE_BUSY_WORKFLOW,
        )
    return NotFound("workflow update was aborted by closing workflow")


def reference(key: RunKey, update_id: str) -> UpdateRef:
    execution = WorkflowExecution(workflow_id=key.workflow_id, run_id=key.run_id)
    return UpdateRef(workflow_execution=execution, update_id=update_id)


def response(
    key: RunKey, namespace: str, request: Request, made: Progress
) -> UpdateWorkflowExecutionResponse:
    """The answer to who sent the update."""
    link: Link | None = None
    if made.outcome is not None and made.outcome.HasField("failure"):
        link = Link(
            workflow=Link.Workflow(
                namespace=namespace,
                workflow_id=key.workflow_id,
                run_id=key.run_id,
                reason="Update rejected",
            )
        )
    elif made.stage != _ADMITTED:
        event = Link.WorkflowEvent(namespace=namespace, workflow_id=key.workflow_id, run_id=key.run_id)
        event.request_id_ref.request_id = request.request_id
        event.request_id_ref.event_type = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED
        link = Link(workflow_event=event)
    return UpdateWorkflowExecutionResponse(
        update_ref=reference(key, request.meta.update_id),
        outcome=made.outcome,
        stage=made.stage,
        link=link,
    )
