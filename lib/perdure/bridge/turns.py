"""Calls that change one run take turns: each is sent when the one before it is answered.

A run is one document, and a change of it is one transaction. Fifty at once would make fifty functions read it, and
forty-nine of them do so in vain, again and again. One after the other they find a function that has it in hand.
What does not live here: correctness. The service decides who was first, wherever a call comes from.
A newcomer's trap: a call that waits for the run (an update, a query, a long poll) must have no turn, for what it waits
for needs one.
"""

import asyncio
import base64
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import grpc
import msgspec
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from durable_core.adapters.aws import messages
from durable_core.model import task_tokens
from durable_core.model.errors import InvalidArgument
from durable_core.wire.methods import SERVICES, WORKFLOW_SERVICE_NAME
from perdure.bridge.endpoint import Answer, Caller
from perdure.bridge.errors import CallFailed
from perdure.bridge.polling import TASK_HEADER

# A call that hangs keeps the others waiting no longer than this.
TURN_SECONDS_MAX = 2.0


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


class InTurns:
    """A caller that lets calls which change one workflow take turns."""

    def __init__(self, endpoint: Caller, seconds_max: float = TURN_SECONDS_MAX) -> None:
        self._endpoint = endpoint
        self._seconds_max = seconds_max
        # An event tells a call that its turn has come. The first of a queue is the one whose turn it is.
        self._queues: dict[str, deque[asyncio.Event]] = {}

    async def call(
        self, path: str, body: bytes, headers: Mapping[str, str], timeout_seconds: float | None
    ) -> Answer:
        """See `Endpoint.call`. The time that a call waits for its turn is the caller's, too."""
        workflow_id = workflow_changed_by(path, body, headers)
        if workflow_id is None:
            return await self._endpoint.call(path, body, headers, timeout_seconds)
        now = asyncio.get_running_loop().time
        came_at = now()
        async with self._turn(workflow_id):
            left = None if timeout_seconds is None else timeout_seconds - (now() - came_at)
            if left is not None and left <= 0:
                message = "the calls before this one, which change the same workflow, took all of its time"
                raise CallFailed(grpc.StatusCode.DEADLINE_EXCEEDED, message)
            return await self._endpoint.call(path, body, headers, left)

    @asynccontextmanager
    async def _turn(self, workflow_id: str) -> AsyncIterator[None]:
        """Wait for a turn, and have it for the time of the context, or for the longest time that one may last."""
        turn = asyncio.Event()
        queue = self._queues.setdefault(workflow_id, deque())
        queue.append(turn)
        timer = None
        try:
            if queue[0] is not turn:
                await turn.wait()
            timer = asyncio.get_running_loop().call_later(self._seconds_max, self._end, workflow_id, turn)
            yield
        finally:
            if timer is not None:
                timer.cancel()
            self._end(workflow_id, turn)

    def _end(self, workflow_id: str, turn: asyncio.Event) -> None:
        """The turn is over, or its call has left; more than once does no harm."""
        queue = self._queues.get(workflow_id)
        if queue is None or turn not in queue:
            return
        was_first = queue[0] is turn
        queue.remove(turn)
        if not queue:
            del self._queues[workflow_id]
        elif was_first:
            queue[0].set()
