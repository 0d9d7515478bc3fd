"""RespondActivityTaskCanceled and RespondActivityTaskCanceledById: the activity did what it was asked to."""

from temporalio.api.common.v1 import Payloads
from temporalio.api.workflowservice.v1 import (
    RespondActivityTaskCanceledByIdRequest,
    RespondActivityTaskCanceledByIdResponse,
    RespondActivityTaskCanceledRequest,
    RespondActivityTaskCanceledResponse,
)

from durable_core.engine import activities
from durable_core.engine.activities import Answerer
from durable_core.engine.transition import Transition
from durable_core.model import limits
from durable_core.model.errors import InvalidArgument
from durable_core.model.ids import RunKey
from durable_core.services import activity_answers
from durable_core.services.context import Context


def respond_activity_task_canceled(
    context: Context, request: RespondActivityTaskCanceledRequest
) -> RespondActivityTaskCanceledResponse:
    key, find = activity_answers.by_token(context, request.task_token, request.namespace)
    details = request.details if request.HasField("details") else None
    _cancel(context, key, find, details, Answerer(request.identity))
    return RespondActivityTaskCanceledResponse()


def respond_activity_task_canceled_by_id(
    context: Context, request: RespondActivityTaskCanceledByIdRequest
) -> RespondActivityTaskCanceledByIdResponse:
    key, find = activity_answers.by_id(context, request, may_wait=False)
    details = request.details if request.HasField("details") else None
    _cancel(context, key, find, details, Answerer(request.identity))
    return RespondActivityTaskCanceledByIdResponse()


def _cancel(
    context: Context, key: RunKey, find: activity_answers.Find, details: Payloads | None, answerer: Answerer
) -> None:
    def decide(t: Transition) -> None:
        info = find(t)
        if details is not None and details.ByteSize() > limits.blob_bytes_max:
            failure = activity_answers.too_large("Cancel details exceed size limit.")
            activities.fail(t, info, failure, answerer)
            return
        if not info.cancel_requested:
            raise InvalidArgument(
                "unable to mark activity as canceled without activity being request canceled first"
            )
        activities.cancel(t, info, details, answerer, info.cancel_requested_event_id)

    context.runs.update(key, decide)
