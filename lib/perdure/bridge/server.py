"""The gRPC side: one handler for every unary method, over raw bytes; health and reflection are answered here.

What does not live here: which methods exist (the endpoint knows), HTTP (`endpoint`), the waiting of polls (`polling`).
A newcomer's trap: a caller that leaves, or whose deadline passes, cancels its handler, and so the call to the endpoint.
"""

import re
from typing import Any

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from durable_core.wire.http import REQUEST_BYTES_MAX
from durable_core.wire.methods import SERVICES
from perdure.bridge.endpoint import Caller
from perdure.bridge.errors import CallFailed
from perdure.bridge.health import Health
from perdure.bridge.looking import LOOKS, Looks
from perdure.bridge.metadata import headers_of, patience
from perdure.bridge.polling import POLLS, WORKFLOW_SERVICE, Polls
from perdure.bridge.requests import workflow_started_by
from perdure.grpc_server import OPTIONS, bind, too_large

DRAIN_SECONDS = 5.0
HEALTH_SECONDS_MAX = 5.0
_PATH = re.compile(r"/[\w.]+/\w+", re.ASCII)
_GET_SYSTEM_INFO = f"{WORKFLOW_SERVICE}/GetSystemInfo"

_Context = grpc.aio.ServicerContext[bytes, bytes]


class BridgeServer:
    """A gRPC server before an endpoint. Create and use it inside a running event loop."""

    def __init__(self, endpoint: Caller, polls: Polls, *, with_authorization: bool) -> None:
        """`with_authorization`: the callers' own authorization is passed on."""
        self._endpoint = endpoint
        self._polls = polls
        self._looks = Looks(endpoint)
        self._server = grpc.aio.server(options=OPTIONS)
        self._health = Health(frozenset(SERVICES), self.endpoint_answers)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        names = (*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, self._server)
        self._server.add_generic_rpc_handlers(
            (_Forwarding(endpoint, polls, self._looks, with_authorization),)
        )

    async def start(self, ip: str, port: int) -> int:
        """Listen. The port that was bound; OSError when it is taken."""
        bound = bind(self._server, ip, port)
        await self._server.start()
        return bound

    async def drain(self, seconds: float = DRAIN_SECONDS) -> None:
        """Refuse new calls, answer waiting polls with nothing, and let the others finish."""
        self._health.drain()
        self._looks.drain()
        await self._polls.drain(seconds)
        await self._server.stop(seconds)

    async def endpoint_answers(self) -> bool:
        """Whether the endpoint answers a call that asks it for nothing."""
        headers = headers_of((), with_authorization=False)
        try:
            await self._endpoint.call(_GET_SYSTEM_INFO, b"", headers, HEALTH_SECONDS_MAX)
        except CallFailed:
            return False
        return True


class _Forwarding(grpc.GenericRpcHandler):
    """Every method has one of two handlers; the path comes to them by the call's details."""

    def __init__(self, endpoint: Caller, polls: Polls, looks: Looks, with_authorization: bool) -> None:
        self._endpoint = endpoint
        self._polls = polls
        self._looks = looks
        self._with_authorization = with_authorization
        self._handlers: dict[str, Any] = {}

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        path = handler_call_details.method
        handler = self._handlers.get(path)
        if handler is None:
            handler = grpc.unary_unary_rpc_method_handler(self._handler(path))
            # Only names that services have are kept, so that no caller fills our memory with others.
            if path.partition("/")[2].partition("/")[0] in SERVICES:
                self._handlers[path] = handler
        return handler

    def _handler(self, path: str) -> Any:
        async def handle(data: bytes, context: _Context) -> bytes:
            return await self._forward(path, data, context)

        return handle

    async def _forward(self, path: str, data: bytes, context: _Context) -> bytes:
        if len(data) > REQUEST_BYTES_MAX:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, too_large(len(data), REQUEST_BYTES_MAX))
        if _PATH.fullmatch(path) is None:
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, f"malformed method name: {path!r}")
        metadata = context.invocation_metadata() or ()
        headers = headers_of(metadata, with_authorization=self._with_authorization)
        seconds = patience(context.time_remaining())
        try:
            if path in POLLS:
                return await self._polls.poll(path, data, headers, seconds)
            if path in LOOKS:
                return await self._looks.call(path, data, headers, seconds)
            answer = await self._endpoint.call(path, data, headers, seconds)
            if (workflow_id := workflow_started_by(path, data)) is not None:
                self._looks.started(workflow_id)
            return answer.body
        except CallFailed as failure:
            trailers = () if failure.details is None else (("grpc-status-details-bin", failure.details),)
            await context.abort(failure.code, failure.message, trailers)
        raise AssertionError("abort raises")
