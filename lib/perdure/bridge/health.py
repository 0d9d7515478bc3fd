"""gRPC health: we serve when the endpoint answers, and not merely because we run.

What does not live here: the endpoint's own health. A newcomer's trap: each check is a call to the endpoint, which costs
something there, so checks that come close together share one, and a watcher learns of a change within seconds only.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

FRESH_SECONDS = 1.0
WATCH_SECONDS = 10.0

_SERVING = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
_UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN


class Health(health_pb2_grpc.HealthServicer):
    """`answers` asks the endpoint. `drain` makes us not serving for good."""

    def __init__(self, services: frozenset[str], answers: Callable[[], Awaitable[bool]]) -> None:
        self._services = services | {""}
        self._answers = answers
        self._asking: asyncio.Task[bool] | None = None
        self._asked_at = float("-inf")
        self._draining = asyncio.Event()

    def drain(self) -> None:
        self._draining.set()

    async def Check(  # noqa: N802 - the method's name in the protocol
        self, request: health_pb2.HealthCheckRequest, context: Any
    ) -> health_pb2.HealthCheckResponse:
        if request.service not in self._services:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"unknown service {request.service}")
        return health_pb2.HealthCheckResponse(status=await self._status())

    async def Watch(  # noqa: N802 - the method's name in the protocol
        self, request: health_pb2.HealthCheckRequest, context: Any
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        known = request.service in self._services
        last = None
        while True:
            # Looked at first: a drain that begins while we ask is still told, with the next turn.
            ending = self._draining.is_set()
            status = await self._status() if known else _UNKNOWN
            if status != last:
                last = status
                yield health_pb2.HealthCheckResponse(status=status)
            if ending:
                return
            try:
                await asyncio.wait_for(self._draining.wait(), WATCH_SECONDS)
            except TimeoutError:
                continue

    async def _status(self) -> Any:
        if self._draining.is_set():
            return _NOT_SERVING
        now = asyncio.get_running_loop().time()
        if self._asking is None or (self._asking.done() and now - self._asked_at > FRESH_SECONDS):
            self._asked_at = now
            self._asking = asyncio.ensure_future(self._answers())
        # Whoever asks may leave; the others still wait for the same answer.
        return _SERVING if await asyncio.shield(self._asking) else _NOT_SERVING
