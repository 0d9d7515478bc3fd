"""RespondActivityTaskFailed and RespondActivityTaskFailedById: another attempt follows, or the activity has failed."""

from temporalio.api.common.v1 import Payloads
from temporalio.api.failure.v1 import Failure
from temporalio.api.workflowservice.v1 import (
    RespondActivityTaskFailedByIdRequest,
    RespondActivityTaskFailedByIdResponse,
    RespondActivityTaskFailedRequest,
    RespondActivityTaskFailedResponse,
)

from durable_core.engine import activities
from durable_core.engine.activities import Answerer
from durable_core.engine.transition import Transition
from durable_core.model import limits
from durable_core.model.errors import InvalidArgument
from durable_core.model.ids import RunKey
from durable_core.services import activity_answers
from durable_core.services.context import Context


def respond_activity_task_failed(
    context: Context, request: RespondActivityTaskFailedRequest
) -> RespondActivityTaskFailedResponse:
    key, find = activity_answers.by_token(context, request.task_token, request.namespace)
    details = request.last_heartbeat_details if request.HasField("last_heartbeat_details") else None
    _check(request.HasField("failure"), request.failure)
    replaced = _fail(context, key, find, request.failure, details, _answerer(request))
    return RespondActivityTaskFailedResponse(failures=replaced)


def respond_activity_task_failed_by_id(
    context: Context, request: RespondActivityTaskFailedByIdRequest
) -> RespondActivityTaskFailedByIdResponse:
    key, find = activity_answers.by_id(context, request, may_wait=False)
    details = request.last_heartbeat_details if request.HasField("last_heartbeat_details") else None
    _check(request.HasField("failure"), request.failure)
    replaced = _fail(context, key, find, request.failure, details, _answerer(request))
    return RespondActivityTaskFailedByIdResponse(failures=replaced)


def _check(given: bool, failure: Failure) -> None:
    if given and not failure.HasField("application_failure_info"):
        raise InvalidArgument("Failure must have ApplicationFailureInfo.")


def _fail(
    context: Context,
    key: RunKey,
    find: activity_answers.Find,
    failure: Failure,
    details: Payloads | None,
    answerer: Answerer,
) -> list[Failure]:
    """What was stored instead of a failure that is too large."""
    kept = activity_answers.bounded_failure(failure)

    def decide(t: Transition) -> None:
        info = find(t)
        if details is not None and details.ByteSize() <= limits.blob_bytes_max:
            info = activities.heartbeat(t, info, details.SerializeToString())
        activities.fail(t, info, kept, answerer)

    context.runs.update(key, decide)
    return [] if kept is failure else [kept]


def _answerer(
    request: RespondActivityTaskFailedRequest | RespondActivityTaskFailedByIdRequest,
) -> Answerer:
    """Only an answer by token can name the build of its worker."""
    if isinstance(request, RespondActivityTaskFailedRequest) and request.HasField("worker_version"):
        return Answerer(request.identity, request.worker_version)
    return Answerer(request.identity)
