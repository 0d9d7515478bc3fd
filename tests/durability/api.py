"""Raw calls of the workflow service over one channel, sorted by what is known of their outcome.

What lives here: the channel, deadlines and the meaning of status codes. What does not: retries, which belong to
whoever kept the request.
A newcomer's mistake: to retry inside a call. The driver must know that a request was sent twice.
"""

from __future__ import annotations

from typing import TypeVar

import grpc
import grpc.aio
from google.protobuf.message import Message
from temporalio.api.workflowservice.v1 import service_pb2

Reply = TypeVar("Reply", bound=Message)

CALL_SECONDS = 10.0
POLL_SECONDS = 70.0
SERVICE = service_pb2.DESCRIPTOR.services_by_name["WorkflowService"]
METHOD_OF_REQUEST = {method.input_type.full_name: method.name for method in SERVICE.methods}

# The server looked at the request and said no.
REFUSALS = frozenset(
    {
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.ALREADY_EXISTS,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.UNIMPLEMENTED,
    }
)
# What a server that is alive may answer, or fail to answer, without being wrong.
TRANSIENT = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.ABORTED,
    }
)


class CallFailed(Exception):
    """A call without a reply."""

    def __init__(self, method: str, code: grpc.StatusCode, details: str) -> None:
        super().__init__(f"{method}: {code.name}: {details}")
        self.code = code


class Refused(CallFailed):
    """The server answered that it did not act."""


class Unanswered(CallFailed):
    """Nobody knows whether the server acted."""


class Api:
    """One channel to one life of the server."""

    def __init__(self, address: str) -> None:
        self._channel = grpc.aio.insecure_channel(address)

    async def call(
        self, request: Message, reply_type: type[Reply], *, seconds: float = CALL_SECONDS
    ) -> Reply:
        """Call the method that takes this request; raise ``Refused`` or ``Unanswered``."""
        method = METHOD_OF_REQUEST[request.DESCRIPTOR.full_name]
        invoke = self._channel.unary_unary(
            f"/{SERVICE.full_name}/{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=reply_type.FromString,
        )
        try:
            reply: Reply = await invoke(request, timeout=seconds)
        except grpc.aio.AioRpcError as error:
            kind = Refused if error.code() in REFUSALS else Unanswered
            raise kind(method, error.code(), error.details() or "") from None
        return reply

    async def aclose(self) -> None:
        await self._channel.close()
