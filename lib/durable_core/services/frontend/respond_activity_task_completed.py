"""RespondActivityTaskCompleted and RespondActivityTaskCompletedById."""

from temporalio.api.common.v1 import Payloads
from temporalio.api.workflowservice.v1 import (
    RespondActivityTaskCompletedByIdRequest,
    RespondActivityTaskCompletedByIdResponse,
    RespondActivityTaskCompletedRequest,
    RespondActivityTaskCompletedResponse,
)

from durable_core.engine import activities
from durable_core.engine.activities import Answerer
from durable_core.engine.transition import Transition
from durable_core.model import limits
from durable_core.model.ids import RunKey
from durable_core.services import activity_answers
from durable_core.services.context import Context


def respond_activity_task_completed(
    context: Context, request: RespondActivityTaskCompletedRequest
) -> RespondActivityTaskCompletedResponse:
    key, find = activity_answers.by_token(context, request.task_token, request.namespace)
    result = request.result if request.HasField("result") else None
    _complete(context, key, find, result, _answerer(request))
    return RespondActivityTaskCompletedResponse()


def respond_activity_task_completed_by_id(
    context: Context, request: RespondActivityTaskCompletedByIdRequest
) -> RespondActivityTaskCompletedByIdResponse:
    key, find = activity_answers.by_id(context, request, may_wait=True)
    result = request.result if request.HasField("result") else None
    _complete(context, key, find, result, _answerer(request))
    return RespondActivityTaskCompletedByIdResponse()


def _complete(
    context: Context, key: RunKey, find: activity_answers.Find, result: Payloads | None, answerer: Answerer
) -> None:
    def decide(t: Transition) -> None:
        info = find(t)
        if result is not None and result.ByteSize() > limits.blob_bytes_max:
            activities.fail(
                t, info, activity_answers.too_large("Complete result exceeds size limit."), answerer
            )
        else:
            activities.complete(t, info, result, answerer)

    context.runs.update(key, decide)


def _answerer(
    request: RespondActivityTaskCompletedRequest | RespondActivityTaskCompletedByIdRequest,
) -> Answerer:
    """Only an answer by token can name the build of its worker."""
    if isinstance(request, RespondActivityTaskCompletedRequest) and request.HasField("worker_version"):
        return Answerer(request.identity, request.worker_version)
    return Answerer(request.identity)
