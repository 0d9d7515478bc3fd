"""From what a request names (namespace, workflow ID, perhaps run ID) to a run."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from google.protobuf.message import Message
from temporalio.api.common.v1 import Link, WorkflowExecution
from temporalio.api.enums.v1 import EventType, ResourceExhaustedCause

from durable_core.engine import checks
from durable_core.engine.transition import Transition
from durable_core.model import limits
from durable_core.model.errors import InvalidArgument, NotFound, ResourceExhausted, RunClosed, Unavailable
from durable_core.model.ids import RunKey, WorkflowKey, is_uuid
from durable_core.model.namespace import Namespace
from durable_core.model.state import RunState
from durable_core.services.context import Context

ALREADY_COMPLETED = "workflow execution already completed"


class _Token(Protocol):
    @property
    def namespace_id(self) -> str: ...


T = TypeVar("T", bound=_Token)
R = TypeVar("R")


def of_token(
    context: Context, named: str, decode: Callable[[bytes], T], task_token: bytes
) -> tuple[Namespace, T]:
    """A task token and its namespace; one that the request names must exist and be the same."""
    known = context.namespaces.named(named) if named else None
    token = decode(task_token)
    namespace = context.namespaces.with_id(token.namespace_id)
    if known is not None and known.namespace_id != namespace.namespace_id:
        raise InvalidArgument("Operation requested with a token from a different namespace.")
    return namespace, token


def check_present(request: Message, field: str) -> None:
    """Raise `InvalidArgument` where a request names no execution at all."""
    if not request.HasField(field):
        raise InvalidArgument("Execution is not set on request.")


def check_execution(execution: WorkflowExecution) -> None:
    """Raise `InvalidArgument` for IDs that can name nothing."""
    if not execution.workflow_id:
        raise InvalidArgument("WorkflowId is not set on request.")
    if checks.too_long(execution.workflow_id):
        raise InvalidArgument("WorkflowId length exceeds limit.")
    if execution.run_id and not is_uuid(execution.run_id):
        raise InvalidArgument("Invalid RunId.")


def run_key(context: Context, namespace_id: str, execution: WorkflowExecution) -> RunKey:
    """The run that is named, or the current one where only the workflow is. Raises `InvalidArgument`, `NotFound`."""
    check_execution(execution)
    workflow = WorkflowKey(namespace_id, execution.workflow_id)
    return workflow.run(execution.run_id or context.runs.current_run_id(workflow))


def update(
    context: Context, namespace_id: str, execution: WorkflowExecution, decide: Callable[[Transition], R]
) -> tuple[RunKey, R]:
    """A transition of the run that is named. Where only the workflow is, and its run closed meanwhile, of the next one.

    Raises `RunClosed` when the run (the last one of its workflow) is closed and `decide` cannot do with that.
    """
    for _ in range(limits.commit_attempts_max):
        key = run_key(context, namespace_id, execution)
        try:
            return key, context.runs.update(key, decide)
        except RunClosed:
            if execution.run_id or context.runs.current_run_id(key.workflow) == key.run_id:
                raise
    raise Unavailable("the workflow goes from run to run; try again")


def request_link(
    namespace: Namespace, key: RunKey, request_id: str, event_type: "EventType.ValueType"
) -> Link:
    """To the event that a request left in a run, found by its request ID: buffered, the event has no number yet."""
    event = Link.WorkflowEvent(namespace=namespace.name, workflow_id=key.workflow_id, run_id=key.run_id)
    event.request_id_ref.request_id = request_id
    event.request_id_ref.event_type = event_type
    return Link(workflow_event=event)


def require_open(state: RunState) -> None:
    """Raise `RunClosed`, which is a `NotFound`, for a closed run."""
    if not state.is_open:
        raise RunClosed(ALREADY_COMPLETED)


def require_not_closing(state: RunState) -> None:
    """Raise `ResourceExhausted` while a run whose close lost a race with an event gets its chance to close."""
    task = state.core.workflow_task
    if state.core.close_attempted and task is not None and task.started_event_id:
        raise ResourceExhausted(
            "workflow operation can not be applied because workflow is closing",
            ResourceExhaustedCause.RESOURCE_EXHAUSTED_CAUSE_BUSY_WORKFLOW,
        )


def require_child_of(state: RunState, parent: RunState, *, only: bool) -> None:
    """Raise `NotFound` where a request is meant for a child of `parent` only, and this run is none."""
    if not only:
        return
    found = state.core.parent
    if found is None or (found.workflow_id, found.run_id) != (parent.core.workflow_id, parent.core.run_id):
        raise NotFound("workflow execution not found")
