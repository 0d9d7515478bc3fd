"""RespondWorkflowTaskFailed: the worker could not get on; the task is tried again."""

from temporalio.api.enums.v1 import WorkflowTaskFailedCause
from temporalio.api.failure.v1 import Failure
from temporalio.api.workflowservice.v1 import (
    RespondWorkflowTaskFailedRequest,
    RespondWorkflowTaskFailedResponse,
)

from durable_core.engine import closing, workflow_tasks
from durable_core.engine.transition import Transition
from durable_core.model import limits, task_tokens
from durable_core.model.ids import RunKey
from durable_core.services import lookup
from durable_core.services.context import Context

_TOO_LARGE = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_GRPC_MESSAGE_TOO_LARGE


def respond_workflow_task_failed(
    context: Context, request: RespondWorkflowTaskFailedRequest
) -> RespondWorkflowTaskFailedResponse:
    _, token = lookup.of_token(context, request.namespace, task_tokens.workflow_task, request.task_token)
    key = RunKey(token.namespace_id, token.workflow_id, token.run_id)
    failure = request.failure if request.HasField("failure") else None
    if failure is not None and failure.ByteSize() > limits.blob_bytes_max:
        failure = Failure(message="Failure exceeds size limit.", source=failure.source)

    def decide(t: Transition) -> None:
        lookup.require_open(t.state)
        task = workflow_tasks.started_task(t, token.scheduled_event_id, token.started_event_id, token.attempt)
        version = request.worker_version if request.HasField("worker_version") else None
        if request.cause == _TOO_LARGE:
            # The worker can never answer this task, so the workflow cannot go on.
            closing.terminate(t, "GrpcMessageTooLarge", None, closing.IDENTITY_HISTORY_SERVICE)
            return
        workflow_tasks.fail(
            t, task, request.cause, failure, request.identity, request.binary_checksum, version
        )
        workflow_tasks.schedule(t)

    context.runs.update(key, decide)
    return RespondWorkflowTaskFailedResponse()
