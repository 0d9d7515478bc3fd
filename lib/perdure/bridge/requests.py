"""What little the bridge understands of the calls it forwards: which workflow they start, change, or wait for.

What does not live here: what it does with that (`turns`, `looking`): it only ever decides when a call is sent.
A newcomer's trap: a call that makes no sense is forwarded all the same. What is wrong with it is the service's to say.
"""

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from temporalio.api.enums.v1 import HistoryEventFilterType
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryRequest

from durable_core.adapters.aws import messages
from durable_core.model import task_tokens
from durable_core.model.errors import InvalidArgument
from durable_core.wire.methods import SERVICES, WORKFLOW_SERVICE_NAME
from perdure.bridge.polling import TASK_HEADER

CLOSE_EVENT = HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT


def _of_token(request: Any) -> str:
    return task_tokens.workflow_id(request.task_token)


def _of_id(request: Any) -> str:
    workflow_id: str = request.workflow_id
    return workflow_id


def _of_execution(request: Any) -> str:
    workflow_id: str = request.workflow_execution.workflow_id
    return workflow_id


_WORKFLOW_ID_OF: Mapping[str, Callable[[Any], str]] = {
    "RespondWorkflowTaskCompleted": _of_token,
    "RespondWorkflowTaskFailed": _of_token,
    "RespondActivityTaskCompleted": _of_token,
    "RespondActivityTaskFailed": _of_token,
    "RespondActivityTaskCanceled": _of_token,
    "RecordActivityTaskHeartbeat": _of_token,
    "RespondActivityTaskCompletedById": _of_id,
    "RespondActivityTaskFailedById": _of_id,
    "RespondActivityTaskCanceledById": _of_id,
    "RecordActivityTaskHeartbeatById": _of_id,
    "StartWorkflowExecution": _of_id,
    "SignalWithStartWorkflowExecution": _of_id,
    "SignalWorkflowExecution": _of_execution,
    "RequestCancelWorkflowExecution": _of_execution,
    "TerminateWorkflowExecution": _of_execution,
    "ResetWorkflowExecution": _of_execution,
    "DeleteWorkflowExecution": _of_execution,
}
STARTS = frozenset(
    f"/{WORKFLOW_SERVICE_NAME}/{name}"
    for name in ("StartWorkflowExecution", "SignalWithStartWorkflowExecution")
)
_METHODS = SERVICES[WORKFLOW_SERVICE_NAME].methods_by_name
_READERS: Mapping[str, tuple[Any, Callable[[Any], str]]] = {
    f"/{WORKFLOW_SERVICE_NAME}/{name}": (GetMessageClass(_METHODS[name].input_type), workflow_id_of)
    for name, workflow_id_of in _WORKFLOW_ID_OF.items()
}


def workflow_changed_by(path: str, body: bytes, headers: Mapping[str, str]) -> str | None:
    """The ID of the workflow that a call changes at once; None where it takes no turn, or makes no sense."""
    try:
        if (task := headers.get(TASK_HEADER)) is not None:
            return messages.to_task(json.loads(base64.urlsafe_b64decode(task))["body"]).workflow_id
        if (reader := _READERS.get(path)) is None:
            return None
        message, workflow_id_of = reader
        return workflow_id_of(message.FromString(body))
    except (DecodeError, InvalidArgument, ValueError, msgspec.MsgspecError):
        return None


def workflow_started_by(path: str, body: bytes) -> str | None:
    """The ID of the workflow that a call starts, or may start; None where it is another kind of call."""
    return workflow_changed_by(path, body, {}) if path in STARTS else None


def workflow_awaited_by(body: bytes) -> str | None:
    """The ID of the workflow for whose end a call for its history waits; None where it does not wait for that."""
    try:
        request = GetWorkflowExecutionHistoryRequest.FromString(body)
    except DecodeError:
        return None
    waits = request.wait_new_event and request.history_event_filter_type == CLOSE_EVENT
    return request.execution.workflow_id if waits else None
