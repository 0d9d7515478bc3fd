"""What the answers to an activity share, by token or by ID: finding the attempt, and checking what came with it."""

from collections.abc import Callable

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.failure.v1 import Failure, ServerFailureInfo

from durable_core.engine import activities
from durable_core.engine.transition import Transition
from durable_core.machines import activity
from durable_core.model import limits, task_tokens
from durable_core.model.errors import InvalidArgument, NotFound
from durable_core.model.ids import RunKey
from durable_core.model.state import ActivityInfo
from durable_core.services import lookup
from durable_core.services.context import Context

Find = Callable[[Transition], ActivityInfo]


def by_token(context: Context, task_token: bytes, namespace: str) -> tuple[RunKey, Find]:
    """The run of a token, and how to find its attempt there (`NotFound` when it is over)."""
    token = task_tokens.activity_task(task_token)
    known = context.namespaces.with_id(token.namespace_id)
    if namespace and namespace != known.name:
        raise InvalidArgument("Operation requested with a token from a different namespace.")

    def find(t: Transition) -> ActivityInfo:
        lookup.require_open(t.state)
        return activities.started(t, token.scheduled_event_id, token.attempt)

    return RunKey(token.namespace_id, token.workflow_id, token.run_id), find


def by_id(
    context: Context, namespace: str, workflow_id: str, run_id: str, activity_id: str, *, may_wait: bool
) -> tuple[RunKey, Find]:
    """The run that is named, and how to find its activity. `may_wait`: also one that no worker has taken yet."""
    known = context.namespaces.named(namespace)
    execution = WorkflowExecution(workflow_id=workflow_id, run_id=run_id)
    lookup.check_execution(execution)
    if not activity_id:
        raise InvalidArgument("ActivityId is not set on request.")
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
            return activities.start_unseen(t, info)
        return info

    return key, find


def bounded_failure(failure: Failure) -> Failure:
    """The failure, or what stands for one that is too large to keep."""
    if failure.ByteSize() <= limits.blob_bytes_max:
        return failure
    short = Failure(
        message="Failure exceeds size limit.", source=failure.source, server_failure_info=ServerFailureInfo()
    )
    short.server_failure_info.non_retryable = True
    return short


def too_large(what: str) -> Failure:
    """The failure that ends an activity whose result or details are too large to keep."""
    return Failure(
        message=f"{what} exceeds size limit.", server_failure_info=ServerFailureInfo(non_retryable=True)
    )
