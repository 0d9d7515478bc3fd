"""HTTP as a client sees it: Connect, the Temporal HTTP API, long polls that are left, and the end."""

import asyncio
import json
import urllib.request
from urllib.error import HTTPError

import pytest
from temporalio.api.workflowservice.v1 import PollWorkflowTaskQueueRequest, PollWorkflowTaskQueueResponse

from durable_core.wire.methods import WORKFLOW_SERVICE_NAME
from perdure.listening import listen
from tests.unit.perdure.systems import running

pytestmark = pytest.mark.asyncio

POLL = f"/{WORKFLOW_SERVICE_NAME}/PollWorkflowTaskQueue"


def fetch(server, path, body=None, content_type="application/json"):
    """Status, content type and body; blocks, so it is for a thread."""
    url = f"http://127.0.0.1:{server.server.http_port}{path}"
    request = urllib.request.Request(url, data=body, headers={"content-type": content_type})
    try:
        with urllib.request.urlopen(request, timeout=15) as response:
            return response.status, response.headers["content-type"], response.read()
    except HTTPError as error:
        with error:
            return error.code, error.headers["content-type"], error.read()


async def test_the_temporal_http_api_answers():
    async with running() as server:
        status, content_type, body = await asyncio.to_thread(fetch, server, "/api/v1/system-info")
        assert (status, content_type, json.loads(body)) == (
            200,
            "application/json",
            {"serverVersion": "tiny"},
        )


async def test_connect_answers_in_both_codecs():
    async with running() as server:
        path = f"/{WORKFLOW_SERVICE_NAME}/GetSystemInfo"
        assert await asyncio.to_thread(fetch, server, path, b"{}") == (
            200,
            "application/json",
            b'{"serverVersion":"tiny"}',
        )
        assert await asyncio.to_thread(fetch, server, path, b"", "application/proto") == (
            200,
            "application/proto",
            b"\n\x04tiny",
        )


@pytest.mark.parametrize(
    "path, body, status, code",
    [
        ("/api/v1/namespaces/no", None, 404, 5),
        ("/api/v1/namespaces/broken", None, 500, 13),
        ("/api/v1/nope", None, 404, 5),
        (f"/{WORKFLOW_SERVICE_NAME}/DescribeNamespace", b'{"namespace":"no"}', 404, "not_found"),
        (f"/{WORKFLOW_SERVICE_NAME}/DescribeNamespace", b'{"namespace":"broken"}', 500, "internal"),
    ],
)
async def test_errors_have_the_shape_of_their_protocol(path, body, status, code):
    async with running() as server:
        answer = await asyncio.to_thread(fetch, server, path, body)
        assert answer[0] == status
        assert json.loads(answer[2])["code"] == code


async def test_a_poll_waits_over_http_too():
    async with running() as server:
        body = PollWorkflowTaskQueueRequest(task_queue={"name": "q"}).SerializeToString()
        waiting = asyncio.create_task(asyncio.to_thread(fetch, server, POLL, body, "application/proto"))
        await server.until_waiting("q")
        server.send("q", b"word")
        assert PollWorkflowTaskQueueResponse.FromString((await waiting)[2]).task_token == b"word"


async def test_a_caller_that_hangs_up_abandons_its_call():
    async with running() as server:
        _, writer = await asyncio.open_connection("127.0.0.1", server.server.http_port)
        writer.write(b"GET /api/v1/namespaces/default/workflows/w/history HTTP/1.1\r\nhost: x\r\n\r\n")
        await server.until_waiting("w")
        writer.close()
        await writer.wait_closed()
        assert await asyncio.wait_for(server.system.abandoned.get(), 10) == ("w", "waiting")


async def test_a_head_request_gets_no_body():
    async with running() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.server.http_port)
        writer.write(b"HEAD /api/v1/system-info HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        answer = await reader.read()
        writer.close()
        assert answer.startswith(b"HTTP/1.1 501")
        assert answer.endswith(b"\r\n\r\n")


async def test_draining_answers_what_waits_and_stops_listening():
    async with running() as server:
        body = PollWorkflowTaskQueueRequest(task_queue={"name": "q"}).SerializeToString()
        waiting = asyncio.create_task(asyncio.to_thread(fetch, server, POLL, body, "application/proto"))
        await server.until_waiting("q")
        await server.server.drain()
        assert (await waiting)[0] == 200
        with pytest.raises(OSError, match="onnect"):
            await asyncio.open_connection("127.0.0.1", server.server.http_port)


async def test_a_port_that_is_taken_is_an_os_error():
    async with running() as server:
        with pytest.raises(
            OSError, match=r"cannot listen on 127\.0\.0\.1:.*; --http-port takes another port"
        ):
            listen("127.0.0.1", server.server.http_port, "--http-port")
