"""The life of an update on a transition: admitted, sent, accepted, rejected, completed.

Admitted updates are part of the stored state, so a lost task, a failed one or a lost process costs them nothing: the
next workflow task brings them again.
"""

from google.protobuf.any_pb2 import Any as AnyMessage
from msgspec.structs import replace
from temporalio.api.enums.v1 import EventType, ResourceExhaustedCause
from temporalio.api.failure.v1 import ApplicationFailureInfo, Failure
from temporalio.api.history.v1 import (
    HistoryEvent,
    WorkflowExecutionUpdateAcceptedEventAttributes,
    WorkflowExecutionUpdateCompletedEventAttributes,
)
from temporalio.api.protocol.v1 import Message
from temporalio.api.update.v1 import Acceptance, Rejection, Request, Response

from durable_core.engine import workflow_tasks
from durable_core.engine.transition import Transition
from durable_core.machines import update
from durable_core.model import limits
from durable_core.model.errors import FailedPrecondition, InvalidArgument, ResourceExhausted
from durable_core.model.state import RunState, UpdateInfo, UpdateStage

UNPROCESSED = Failure(
    message="Workflow Update is rejected because it wasn't processed by worker. Probably, Workflow Update is not "
    "supported by the worker.",
    source="Server",
    application_failure_info=ApplicationFailureInfo(type="UnprocessedUpdate", non_retryable=True),
)
CLOSED_BEFORE_COMPLETION = Failure(
    message="Workflow Update failed because the Workflow completed before the Update completed.",
    source="Server",
    application_failure_info=ApplicationFailureInfo(
        type="AcceptedUpdateCompletedWorkflow", non_retryable=True
    ),
)


def admit(t: Transition, request: Request, admission: str) -> UpdateInfo:
    """Take an update in, or find it: the same ID is the same update, unless that was rejected."""
    state = t.state
    update_id = request.meta.update_id
    info = state.updates.get(update_id)
    if info is not None and info.stage != UpdateStage.REJECTED:
        return info
    _check_limits(state)
    info = UpdateInfo(
        update_id,
        UpdateStage.ADMITTED,
        request=request.SerializeToString(),
        changed_at=t.now,
        admission=admission,
    )
    state.updates.put(update_id, info)
    t.is_dirty = True
    if workflow_tasks.may_schedule(state):
        workflow_tasks.schedule(t, speculative=True)
    return info


def _check_limits(state: RunState) -> None:
    open_ones = sum(1 for info in state.updates.values() if info.stage < UpdateStage.COMPLETED)
    if open_ones >= limits.updates_in_flight_max:
        raise ResourceExhausted(
            f"limit on number of concurrent in-flight updates has been reached ({limits.updates_in_flight_max})",
            ResourceExhaustedCause.RESOURCE_EXHAUSTED_CAUSE_CONCURRENT_LIMIT,
        )
    if len(state.updates) >= limits.updates_per_run_max:
        raise FailedPrecondition(
            "limit on the total number of distinct updates in this workflow has been reached "
            f"({limits.updates_per_run_max})"
        )


def send(t: Transition) -> None:
    """The workflow task that has just started brings every update that is not answered yet."""
    for update_id, info in list(t.state.updates.items()):
        if info.stage == UpdateStage.ADMITTED:
            t.state.updates.put(update_id, replace(info, stage=UpdateStage.SENT))


def has_admitted(state: RunState) -> bool:
    """Whether an update waits that no workflow task has brought yet."""
    return any(info.stage == UpdateStage.ADMITTED for info in state.updates.values())


def messages(state: RunState) -> list[Message]:
    """What the started workflow task tells its worker; updates that its history admits need no message."""
    task = state.core.workflow_task
    if task is None:
        return []
    found = []
    for info in state.updates.values():
        if info.stage == UpdateStage.SENT and not info.admitted_event_id:
            body = AnyMessage()
            body.Pack(Request.FromString(info.request))
            found.append(
                Message(
                    id=f"{info.update_id}/request",
                    protocol_instance_id=info.update_id,
                    event_id=task.started_event_id - 1,
                    body=body,
                )
            )
    return found


def only_rejections(received: list[Message]) -> bool:
    return all(message.body.Is(Rejection.DESCRIPTOR) for message in received)


def receive(t: Transition, message: Message) -> HistoryEvent | None:
    """A worker's answer. Raises `InvalidArgument` for one that does not fit the update."""
    body = message.body
    update_id = message.protocol_instance_id
    info = t.state.updates.get(update_id)
    if body.Is(Acceptance.DESCRIPTOR):
        acceptance = Acceptance()
        body.Unpack(acceptance)
        return _accept(t, update_id, info, acceptance)
    if info is None or info.stage == UpdateStage.REJECTED:
        raise InvalidArgument(
            f"update {update_id} wasn't found on the server. This is most likely a transient error which will be "
            "resolved automatically by retries"
        )
    if body.Is(Response.DESCRIPTOR):
        response = Response()
        body.Unpack(response)
        return _complete(t, info, response)
    if body.Is(Rejection.DESCRIPTOR):
        rejection = Rejection()
        body.Unpack(rejection)
        _require(info, update.OPEN, "Rejection")
        reject(t, info, rejection.failure)
        return None
    raise InvalidArgument(f"unsupported message type {body.TypeName()}")


def _require(info: UpdateInfo, stages: tuple[UpdateStage, ...], what: str) -> None:
    if info.stage not in stages:
        state = UpdateStage(info.stage).name.capitalize()
        raise InvalidArgument(
            f"invalid state transition attempted for Update {info.update_id}: received *update.{what} message "
            f"while in state {state}"
        )


def _accept(t: Transition, update_id: str, info: UpdateInfo | None, acceptance: Acceptance) -> HistoryEvent:
    """An update that is not known any more is taken from the answer, where that carries the request."""
    request = acceptance.accepted_request
    if info is not None and info.stage != UpdateStage.REJECTED:
        _require(info, update.OPEN, "Acceptance")
        request = Request.FromString(info.request)
    elif not acceptance.HasField("accepted_request"):
        raise InvalidArgument(
            f"update {update_id} wasn't found on the server, and its answer carries no request"
        )
    else:
        t.state.updates.put(
            update_id, UpdateInfo(update_id, UpdateStage.SENT, request=request.SerializeToString())
        )
    return t.add(
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
        links=request.links,
        workflow_execution_update_accepted_event_attributes=WorkflowExecutionUpdateAcceptedEventAttributes(
            protocol_instance_id=update_id,
            accepted_request_message_id=acceptance.accepted_request_message_id,
            accepted_request_sequencing_event_id=acceptance.accepted_request_sequencing_event_id,
            accepted_request=None if info is not None and info.admitted_event_id else request,
        ),
    )


def _complete(t: Transition, info: UpdateInfo, response: Response) -> HistoryEvent:
    _require(info, (UpdateStage.ACCEPTED,), "Response")
    return t.add(
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED,
        workflow_execution_update_completed_event_attributes=WorkflowExecutionUpdateCompletedEventAttributes(
            meta=response.meta if response.HasField("meta") else None,
            outcome=response.outcome if response.HasField("outcome") else None,
            accepted_event_id=info.accepted_event_id,
        ),
    )


def reject(t: Transition, info: UpdateInfo, failure: Failure) -> None:
    """Keep the rejection for the caller to read; it has no place in the history."""
    t.state.updates.put(
        info.update_id,
        replace(
            info,
            stage=UpdateStage.REJECTED,
            request=b"",
            rejection=failure.SerializeToString(),
            changed_at=t.now,
        ),
    )
    t.is_dirty = True


def reject_unprocessed(t: Transition) -> None:
    """A worker that said nothing of an update it was sent does not know updates."""
    for info in list(t.state.updates.values()):
        if info.stage == UpdateStage.SENT:
            reject(t, info, UNPROCESSED)


def forget_rejected(t: Transition) -> None:
    """Drop rejections whose caller has had the time to read them."""
    for update_id, info in list(t.state.updates.items()):
        if info.stage == UpdateStage.REJECTED and t.now > info.changed_at + limits.update_rejection_kept:
            t.state.updates.remove(update_id)
