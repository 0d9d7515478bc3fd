"""RecordActivityTaskHeartbeat and RecordActivityTaskHeartbeatById: a sign of life."""

from temporalio.api.common.v1 import Payloads
from temporalio.api.workflowservice.v1 import (
    RecordActivityTaskHeartbeatByIdRequest,
    RecordActivityTaskHeartbeatByIdResponse,
    RecordActivityTaskHeartbeatRequest,
    RecordActivityTaskHeartbeatResponse,
)

from durable_core.engine import activities
from durable_core.engine.activities import Answerer
from durable_core.engine.transition import Transition
from durable_core.model import limits
from durable_core.model.ids import RunKey
from durable_core.services import activity_answers
from durable_core.services.context import Context


def record_activity_task_heartbeat(
    context: Context, request: RecordActivityTaskHeartbeatRequest
) -> RecordActivityTaskHeartbeatResponse:
    key, find = activity_answers.by_token(context, request.task_token, request.namespace)
    canceled = _beat(context, key, find, request.details, request.identity)
    return RecordActivityTaskHeartbeatResponse(cancel_requested=canceled)


def record_activity_task_heartbeat_by_id(
    context: Context, request: RecordActivityTaskHeartbeatByIdRequest
) -> RecordActivityTaskHeartbeatByIdResponse:
    key, find = activity_answers.by_id(context, request, may_wait=False)
    canceled = _beat(context, key, find, request.details, request.identity)
    return RecordActivityTaskHeartbeatByIdResponse(cancel_requested=canceled)


def _beat(
    context: Context, key: RunKey, find: activity_answers.Find, details: Payloads, identity: str
) -> bool:
    """Whether the activity is asked to cancel. Details that are too large fail the attempt, which is then over."""

    def decide(t: Transition) -> bool:
        info = find(t)
        if details.ByteSize() > limits.blob_bytes_max:
            failure = activity_answers.too_large("Heartbeat details exceed size limit.")
            activities.fail(t, info, failure, Answerer(identity))
            return True
        return activities.heartbeat(t, info, details.SerializeToString()).cancel_requested

    return context.runs.update(key, decide)
