"""What the answers to an activity share, by token or by ID: finding the attempt, and checking what came with it."""

from collections.abc import Callable
from typing import Protocol

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.failure.v1 import Failure, ServerFailureInfo

from durable_core.engine import activities
from durable_core.engine.transition import Transition
from durable_core.machines import activity
from durable_core.model import limits, task_tokens
from durable_core.model.errors import InvalidArgument, NotFound
from durable_core.model.ids import RunKey, is_uuid
from durable_core.model.state import ActivityInfo
from durable_core.services import lookup
from durable_core.services.context import Context

Find = Callable[[Transition], ActivityInfo]


def by_token(context: Context, task_token: bytes, namespace: str) -> tuple[RunKey, Find]:
    """The run of a token, and how to find its attempt there (`NotFound` when it is over)."""
    _, token = lookup.of_token(context, namespace, task_tokens.activity_task, task_token)

    def find(t: Transition) -> ActivityInfo:
        lookup.require_open(t.state)
        return activities.started(t, token.scheduled_event_id, token.attempt)

    return RunKey(token.namespace_id, token.workflow_id, token.run_id), find


class ById(Protocol):
    """What every request names that answers an activity by its ID."""

    namespace: str
    workflow_id: str
    run_id: str
    activity_id: str
    identity: str


def by_id(context: Context, request: ById, *, may_wait: bool) -> tuple[RunKey, Find]:
    """The run that is named, and how to find its activity. `may_wait`: also one that no worker has taken yet."""
    known = context.namespaces.named(request.namespace)
    activity_id = request.activity_id
    if not activity_id:
        raise InvalidArgument("ActivityId is not set on request.")
    if request.run_id and not is_uuid(request.run_id):
        raise InvalidArgument("RunId is not valid UUID.")
    if not request.workflow_id:
        raise NotFound(f"activity not found for ID: {activity_id}")
    execution = WorkflowExecution(workflow_id=request.workflow_id, run_id=request.run_id)
    key = lookup.run_key(context, known.namespace_id, execution)

    def find(t: Transition) -> ActivityInfo:
        lookup.require_open(t.state)
        info = activity.by_id(t.state, activity_id)
        if info is None:
            raise NotFound(
                f"cannot find pending activity with ActivityID {activity_id}, check workflow execution history "
                "for more details"
            )
        if not info.started_at:
            if not may_wait:
                raise NotFound(activities.NOT_RUNNING)
            return activities.start_unseen(t, info, request.identity)
        return info

    return key, find


def bounded_failure(failure: Failure) -> Failure:
    """The failure, or what stands for one that is too large to keep, with what fits of it as the cause."""
    if failure.ByteSize() <= limits.blob_bytes_max:
        return failure
    short = too_large("Failure exceeds size limit.")
    short.source = failure.source
    short.cause.CopyFrom(_truncated(failure))
    return short


def _truncated(failure: Failure) -> Failure:
    """The failure's own words without its details, stack and cause, cut to a quarter of a blob."""
    cut = Failure(source=failure.source)
    cut.message = failure.message[: limits.truncated_failure_message_max]
    kind = failure.WhichOneof("failure_info")
    if kind == "application_failure_info":
        info = failure.application_failure_info
        cut.application_failure_info.type = info.type
        cut.application_failure_info.non_retryable = info.non_retryable
    elif kind is not None:
        getattr(cut, kind).SetInParent()
    return cut


def too_large(message: str) -> Failure:
    """The failure that ends an activity whose answer is too large to keep."""
    return Failure(message=message, server_failure_info=ServerFailureInfo(non_retryable=True))
