"""What the bridge talks to: an endpoint and an SQS that are real HTTP servers on free ports, and do what a test says.

What does not live here: a judgement. A newcomer's mistake: to tell a fake what to answer after the call was made; the
script comes first, and what was asked is read afterwards.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from perdure.bridge.authorization import Aws, Nobody
from perdure.bridge.endpoint import Endpoint, http_session

POLL = "/temporal.api.workflowservice.v1.WorkflowService/PollActivityTaskQueue"
INFO = "/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo"
PROTO = "application/proto"


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes


Answer = Callable[[Asked], Awaitable[web.Response]]


def proto(body: bytes, **headers: str) -> web.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return web.Response(body=body, content_type=PROTO, headers=named)


@dataclass
class FarEnd:
    """An HTTP server that answers every POST by `answer`."""

    answer: Answer
    asked: list[Asked] = field(default_factory=list)
    arrived: asyncio.Queue[Asked] = field(default_factory=asyncio.Queue)
    left: asyncio.Queue[Asked] = field(default_factory=asyncio.Queue)
    url: str = ""

    async def handle(self, request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        asked = Asked(request.raw_path, headers, await request.read())
        self.asked.append(asked)
        self.arrived.put_nowait(asked)
        try:
            return await self.answer(asked)
        except asyncio.CancelledError:
            self.left.put_nowait(asked)
            raise


@asynccontextmanager
async def far_end(answer: Answer, port: int = 0) -> AsyncIterator[FarEnd]:
    end = FarEnd(answer)
    application = web.Application(client_max_size=2**30)
    application.router.add_route("*", "/{path:.*}", end.handle)
    runner = web.AppRunner(application, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    server: Any = site._server
    end.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield end
    finally:
        await runner.cleanup()


@asynccontextmanager
async def endpoint_at(url: str, authorization: Any = None) -> AsyncIterator[Endpoint]:
    async with http_session() as session:
        yield Endpoint(url, session, authorization or Nobody())


async def never(_: Asked) -> web.Response:
    await asyncio.Event().wait()
    raise AssertionError


@dataclass
class SqsFake:
    """One queue: `messages` that wait, `hidden` ones by receipt, and an error to answer instead."""

    messages: list[str] = field(default_factory=list)
    hidden: dict[str, str] = field(default_factory=dict)
    released: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    receiving: int = 0
    receives: list[dict[str, Any]] = field(default_factory=list)
    error: tuple[int, str] | None = None
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def send(self, *bodies: str) -> None:
        async with self.changed:
            self.messages.extend(bodies)
            self.changed.notify_all()

    async def answer(self, asked: Asked) -> web.Response:
        request = json.loads(asked.body)
        action = asked.headers["x-amz-target"].removeprefix("AmazonSQS.")
        if self.error is not None:
            status, kind = self.error
            return web.json_response({"__type": f"com.amazonaws.sqs#{kind}", "message": "no"}, status=status)
        if action == "ChangeMessageVisibility":
            body = self.hidden.pop(request["ReceiptHandle"])
            self.released.put_nowait(body)
            await self.send(body)
            return web.json_response({})
        self.receives.append(request)
        return web.json_response({"Messages": await self._receive(request["MaxNumberOfMessages"])})

    async def _receive(self, most: int) -> list[dict[str, str]]:
        self.receiving += 1
        try:
            async with self.changed:
                await self.changed.wait_for(lambda: self.messages)
                taken, self.messages = self.messages[:most], self.messages[most:]
        finally:
            self.receiving -= 1
        found = []
        for body in taken:
            receipt = f"receipt-{len(self.hidden)}-{body}"
            self.hidden[receipt] = body
            found.append({"Body": body, "ReceiptHandle": receipt, "MessageId": "1"})
        return found


def some_aws(monkeypatch: Any) -> Aws:
    """An account whose keys are in the environment, and nothing of this machine's configuration."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    return Aws("eu-west-1")
