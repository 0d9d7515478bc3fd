"""The gRPC edge: one handler over the method table, health, reflection, and what SDK clients expect of a connection.

What does not live here: waiting (`answering`), the shape of errors (`wire.errors`), and how connections are treated
(`grpc_server`).
A newcomer's trap: the size limit is checked here and not by the gRPC library (`grpc_server` says why).
"""

from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import grpc.aio
from google.protobuf.message import DecodeError
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from durable_core.model.errors import Internal, ServiceError
from durable_core.wire.errors import status_details
from durable_core.wire.http import REQUEST_BYTES_MAX
from durable_core.wire.methods import SERVICES, Method, MethodTable, unimplemented
from perdure.dev.answering import Answering
from perdure.grpc_server import OPTIONS, bind, too_large

_CODES: dict[int, grpc.StatusCode] = {code.value[0]: code for code in grpc.StatusCode}
_Handle = Callable[[bytes, "grpc.aio.ServicerContext[bytes, bytes]"], Awaitable[bytes]]


class GrpcEdge:
    """A gRPC server over a method table. Create and use it inside a running event loop."""

    def __init__(self, table: MethodTable, answering: Answering) -> None:
        self._server = grpc.aio.server(options=OPTIONS)
        self._health = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        names = (*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, self._server)
        self._server.add_generic_rpc_handlers((_Handlers(table, answering),))

    async def start(self, ip: str, port: int) -> int:
        """Listen and say that we serve. The port that was bound; OSError when it is taken."""
        bound = bind(self._server, ip, port)
        for service in ("", *SERVICES):
            await self._health.set(service, health_pb2.HealthCheckResponse.SERVING)
        await self._server.start()
        return bound

    async def stop(self, grace_seconds: float) -> None:
        """Refuse new calls, let those under way answer, and end what is left after the grace."""
        await self._health.enter_graceful_shutdown()
        await self._server.stop(grace_seconds)


class _Handlers(grpc.GenericRpcHandler):
    """Finds the handler of a method by its path: one look-up a call, nothing built."""

    def __init__(self, table: MethodTable, answering: Answering) -> None:
        self._handlers: dict[str, Any] = {
            path: grpc.unary_unary_rpc_method_handler(_handle(method, answering))
            for path, method in table.by_path.items()
        }

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        path = handler_call_details.method
        return self._handlers.get(path) or grpc.unary_unary_rpc_method_handler(_refuse(path, None))


def _handle(method: Method, answering: Answering) -> _Handle:
    if method.rpc is None:
        return _refuse(method.path, method)
    if method.rpc.waits:
        return _waiting(method, answering)
    return _immediate(method, answering)


def _immediate(method: Method, answering: Answering) -> _Handle:
    """The hot path: parse, run, serialize."""
    assert method.rpc is not None
    function = method.rpc.function
    parse = method.request.FromString
    run = answering.run

    async def handle(data: bytes, context: "grpc.aio.ServicerContext[bytes, bytes]") -> bytes:
        try:
            if len(data) > REQUEST_BYTES_MAX:
                await _too_large(len(data), context)
            answer: bytes = run(function, parse(data)).SerializeToString()
        except ServiceError as error:
            return await _abort(error, context)
        except DecodeError as error:
            return await _abort(_not_parsable(error), context)
        return answer

    return handle


def _waiting(method: Method, answering: Answering) -> _Handle:
    rpc = method.rpc
    assert rpc is not None
    parse = method.request.FromString

    async def handle(data: bytes, context: "grpc.aio.ServicerContext[bytes, bytes]") -> bytes:
        try:
            if len(data) > REQUEST_BYTES_MAX:
                await _too_large(len(data), context)
            response = await answering.call(rpc, parse(data), context.time_remaining(), _headers(context))
            answer: bytes = response.SerializeToString()
        except ServiceError as error:
            return await _abort(error, context)
        except DecodeError as error:
            return await _abort(_not_parsable(error), context)
        return answer

    return handle


def _refuse(path: str, method: Method | None) -> _Handle:
    error = unimplemented(path, method)

    async def handle(data: bytes, context: "grpc.aio.ServicerContext[bytes, bytes]") -> bytes:
        return await _abort(error, context)

    return handle


def _headers(context: "grpc.aio.ServicerContext[bytes, bytes]") -> dict[str, str]:
    return {name: value for name, value in context.invocation_metadata() or () if isinstance(value, str)}


def _not_parsable(error: DecodeError) -> ServiceError:
    return Internal(f"grpc: error unmarshalling request: {error}")


async def _too_large(size: int, context: "grpc.aio.ServicerContext[bytes, bytes]") -> None:
    await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, too_large(size, REQUEST_BYTES_MAX))


async def _abort(error: ServiceError, context: "grpc.aio.ServicerContext[bytes, bytes]") -> bytes:
    details = status_details(error)
    trailers = (("grpc-status-details-bin", details),) if details is not None else ()
    await context.abort(_CODES[error.code], error.message, trailers)
    raise AssertionError("abort raises")
