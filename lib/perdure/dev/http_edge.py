"""The HTTP edge: uvicorn carries Connect and the Temporal HTTP API to the router of `wire`.

What does not live here: routes, transcoding, the shape of errors (`wire`), and waiting (`answering`).
A newcomer's trap: while a call waits we also listen for the caller's leaving, or an abandoned long poll would go on
to claim a task that nobody gets.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn

from durable_core.model.errors import ServiceError
from durable_core.wire.http import REQUEST_BYTES_MAX, HttpCall, HttpRequest, HttpResponse
from durable_core.wire.router import Router
from perdure.dev.answering import Answering
from perdure.listening import listen

_Scope = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class HttpEdge:
    """An HTTP server over a router. Create and use it inside a running event loop."""

    def __init__(self, router: Router, answering: Answering) -> None:
        config = uvicorn.Config(
            _Application(router, answering),
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            ws="none",
        )
        config.load()
        self._config = config
        self._server = uvicorn.Server(config)
        self._server.lifespan = config.lifespan_class(config)
        self._stopping = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None

    async def start(self, ip: str, port: int) -> int:
        """Listen. The port that was bound; OSError when it is taken."""
        listener = listen(ip, port, "--http-port")
        await self._server.startup(sockets=[listener])
        self._serving = asyncio.create_task(self._serve(listener), name="http")
        return int(listener.getsockname()[1])

    async def stop(self, grace_seconds: float) -> None:
        """Refuse new calls, let those under way answer, and end what is left after the grace."""
        if self._serving is None:
            return
        self._config.timeout_graceful_shutdown = max(1, round(grace_seconds))
        self._stopping.set()
        await self._serving

    async def _serve(self, listener: socket.socket) -> None:
        # uvicorn's own loop looks ten times a second whether it is to stop; an idle server is to sleep.
        await self._stopping.wait()
        await self._server.shutdown(sockets=[listener])


class _Application:
    """The ASGI application: one request, one call."""

    def __init__(self, router: Router, answering: Answering) -> None:
        self._router = router
        self._answering = answering

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        request = await _request(scope, receive)
        if request is None:
            return
        routed = self._router.route(request)
        response = await self._run(routed, receive) if isinstance(routed, HttpCall) else routed
        if response is not None:
            await _respond(response, send, with_body=request.method != "HEAD")

    async def _run(self, call: HttpCall, receive: _Receive) -> HttpResponse | None:
        """The call's response; None when the caller left before there was one."""
        rpc = call.method.rpc
        assert rpc is not None
        answering = self._answering.call(rpc, call.request, call.timeout_seconds, call.headers)
        try:
            if not rpc.waits:
                return call.answer(await answering)
            answer = await _unless_gone(asyncio.ensure_future(answering), receive)
            return None if answer is None else call.answer(answer)
        except ServiceError as error:
            return call.refuse(error)


async def _unless_gone(answering: "asyncio.Future[Any]", receive: _Receive) -> Any:
    """The answer, or None when the caller left first; then the answering was cancelled."""
    leaving = asyncio.ensure_future(receive())
    try:
        await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            return answering.result()
        answering.cancel()
        await asyncio.wait((answering,))
        return None
    finally:
        leaving.cancel()
        answering.cancel()


async def _request(scope: _Scope, receive: _Receive) -> HttpRequest | None:
    """The whole request; None when its caller left while sending it. What is too large is cut off there."""
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        if size <= REQUEST_BYTES_MAX:
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
        if not message.get("more_body", False):
            break
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    return HttpRequest(
        method=scope["method"],
        path=scope["raw_path"].decode("latin-1"),
        query=scope["query_string"].decode("latin-1"),
        headers=headers,
        body=b"".join(chunks),
    )


async def _respond(response: HttpResponse, send: _Send, *, with_body: bool) -> None:
    headers = [
        (b"content-type", response.content_type.encode()),
        (b"content-length", b"%d" % len(response.body)),
    ]
    headers += [(name.encode(), value.encode()) for name, value in (response.headers or {}).items()]
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body if with_body else b""})
