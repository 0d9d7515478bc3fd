"""The proxy between everything and the local AWS: it passes calls on as they are and shows each to the meter.

What does not live here: what a call means (`metering`). A newcomer's trap: of DynamoDB's calls the body is changed
after all: they are asked to say what they consumed. So signatures do not hold, and an AWS that checks them cannot be
counted.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web
from yarl import URL

from perdure.cost.metering import METERED, Meter

BODY_BYTES_MAX = 64 * 1024 * 1024
_HOP_BY_HOP = frozenset({"connection", "content-length", "keep-alive", "transfer-encoding"})
_PREFIX = "DynamoDB_20120810."


@asynccontextmanager
async def counting(meter: Meter, upstream: str, port: int) -> AsyncIterator[str]:
    """A proxy before `upstream` while the block runs; gives its address. Port 0 is any free one."""
    connector = aiohttp.TCPConnector(limit=0)
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout, auto_decompress=False) as session:
        application = web.Application(client_max_size=BODY_BYTES_MAX)
        application.router.add_route("*", "/{path:.*}", _Proxy(meter, upstream.rstrip("/"), session).handle)
        runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", port).start()
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()


class _Proxy:
    def __init__(self, meter: Meter, upstream: str, session: aiohttp.ClientSession) -> None:
        self._meter = meter
        self._upstream = upstream
        self._session = session

    async def handle(self, request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = await request.read()
        passed_on = _asking_for_capacity(headers, body)
        async with self._session.request(
            request.method,
            URL(self._upstream + request.raw_path, encoded=True),
            data=passed_on,
            headers={name: value for name, value in headers.items() if name not in _HOP_BY_HOP},
            allow_redirects=False,
        ) as response:
            data = await response.read()
            kept = [
                (name, value) for name, value in response.headers.items() if name.lower() not in _HOP_BY_HOP
            ]
            self._meter.passed(request.raw_path, headers, body, response.status, data)
            answer = web.Response(status=response.status, body=data)
            answer.headers.clear()
            answer.headers.extend(kept)
            return answer


def _asking_for_capacity(headers: dict[str, str], body: bytes) -> bytes:
    if headers.get("x-amz-target", "").removeprefix(_PREFIX) not in METERED:
        return body
    return json.dumps({**json.loads(body), "ReturnConsumedCapacity": "TOTAL"}).encode()
