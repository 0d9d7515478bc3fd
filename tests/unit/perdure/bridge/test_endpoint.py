"""One call to the endpoint: its deadline, its errors, an endpoint that is away and comes back."""

import asyncio
import gzip
import logging

import aiohttp
import grpc
import pytest
from aiohttp import web
from aiohttp.client_reqrep import ConnectionKey

from perdure.bridge import endpoint as module
from perdure.bridge.errors import CallFailed
from perdure.bridge.metadata import headers_of
from perdure.demo.server import free_port
from tests.unit.perdure.bridge.far_ends import INFO, endpoint_at, far_end, never, proto

pytestmark = pytest.mark.asyncio
HEADERS = headers_of((), with_authorization=False)


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Retries wait next to nothing; how long they wait is backoff's to test."""
    monkeypatch.setattr(module, "CONNECT_DELAY_SECONDS_MAX", 0.001)


async def test_bytes_go_there_and_back_as_they_are():
    async def answer(asked):
        return proto(asked.body[::-1], perdure_queue_url="q")

    async with far_end(answer) as end, endpoint_at(end.url + "/stage/") as endpoint:
        got = await endpoint.call(INFO, b"\x00\xffabc", HEADERS, 5.0)
        assert got.body == b"cba\xff\x00"
        assert got.headers["Perdure-Queue-Url"] == "q"
        assert end.asked[0].path == "/stage" + INFO
        assert end.asked[0].headers["content-type"] == "application/proto"
        assert end.asked[0].headers["connect-timeout-ms"] == "5000"


async def test_a_large_answer_may_come_compressed():
    async def answer(asked):
        assert asked.headers["accept-encoding"] == "gzip"
        response = proto(gzip.compress(b"history " * 1_000_000))
        response.headers["content-encoding"] = "gzip"
        return response

    async with far_end(answer) as end, endpoint_at(end.url) as endpoint:
        assert (await endpoint.call(INFO, b"", HEADERS, 10.0)).body == b"history " * 1_000_000


async def test_a_call_without_a_deadline_tells_none():
    async def answer(asked):
        return proto(b"")

    async with far_end(answer) as end, endpoint_at(end.url) as endpoint:
        await endpoint.call(INFO, b"", HEADERS, None)
        assert "connect-timeout-ms" not in end.asked[0].headers


async def test_an_endpoint_that_does_not_answer_in_time_is_a_deadline_exceeded(monkeypatch):
    monkeypatch.setattr(module, "TRAVEL_SECONDS", 0.01)
    async with far_end(never) as end, endpoint_at(end.url) as endpoint:
        with pytest.raises(CallFailed) as raised:
            await endpoint.call(INFO, b"", HEADERS, 0.05)
        assert raised.value.code is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_an_endpoint_that_is_away_is_unavailable_and_is_found_again(caplog):
    async def answer(asked):
        return proto(b"back")

    port = free_port()
    async with endpoint_at(f"http://127.0.0.1:{port}") as endpoint:
        with caplog.at_level(logging.WARNING, "perdure.bridge"):
            for _ in range(2):
                with pytest.raises(CallFailed, match=f"cannot reach http://127.0.0.1:{port}") as raised:
                    await endpoint.call(INFO, b"", HEADERS, 5.0)
                assert raised.value.code is grpc.StatusCode.UNAVAILABLE
            async with far_end(answer, port):
                assert (await endpoint.call(INFO, b"", HEADERS, 5.0)).body == b"back"
    said = [record.getMessage() for record in caplog.records]
    assert ["cannot reach" in line for line in said] == [True, False], said
    assert "is reachable again" in said[1]


async def test_a_connection_that_cannot_be_made_is_tried_again(monkeypatch):
    async def answer(asked):
        return proto(b"ok")

    async with far_end(answer) as end, endpoint_at(end.url) as endpoint:
        real, failures = endpoint._session.post, [2]
        nowhere = ConnectionKey("nowhere", 1, False, True, None, None, None)

        def post(*arguments, **options):
            if failures[0]:
                failures[0] -= 1
                raise aiohttp.ClientConnectorError(nowhere, ConnectionRefusedError())
            return real(*arguments, **options)

        monkeypatch.setattr(endpoint, "_session", type("S", (), {"post": staticmethod(post)}))
        assert (await endpoint.call(INFO, b"", HEADERS, 5.0)).body == b"ok"


async def test_a_call_that_was_sent_is_not_sent_again():
    async def hang_up(reader, writer):
        calls.append(await reader.readuntil(b"\r\n\r\n"))
        writer.close()

    calls = []
    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, endpoint_at(f"http://127.0.0.1:{port}") as endpoint:
        with pytest.raises(CallFailed) as raised:
            await endpoint.call(INFO, b"", HEADERS, 5.0)
    assert raised.value.code is grpc.StatusCode.UNAVAILABLE
    assert len(calls) == 1


@pytest.mark.parametrize("status", [301, 302, 307])
async def test_a_redirection_is_not_followed_with_a_signed_call(status):
    async def answer(asked):
        return web.Response(status=status, headers={"location": "/elsewhere"})

    async with far_end(answer) as end, endpoint_at(end.url) as endpoint:
        with pytest.raises(CallFailed, match=str(status)):
            await endpoint.call(INFO, b"", HEADERS, 5.0)
        assert len(end.asked) == 1


async def test_a_page_instead_of_an_answer_asks_whether_the_address_is_right():
    async def answer(asked):
        return web.Response(text="<html>", content_type="text/html")

    async with far_end(answer) as end, endpoint_at(end.url) as endpoint:
        with pytest.raises(CallFailed, match=r"text/html.*a Perdure endpoint\?") as raised:
            await endpoint.call(INFO, b"", HEADERS, 5.0)
        assert raised.value.code is grpc.StatusCode.INTERNAL


async def test_cancelling_a_call_hangs_up():
    async with far_end(never) as end, endpoint_at(end.url) as endpoint:
        call = asyncio.create_task(endpoint.call(INFO, b"", HEADERS, 30.0))
        await asyncio.wait_for(end.arrived.get(), 10)
        call.cancel()
        assert (await asyncio.wait_for(end.left.get(), 10)).path == INFO


async def test_hundreds_of_calls_are_open_at_once():
    everybody = asyncio.Event()

    async def answer(asked):
        if len(end.asked) == 300:
            everybody.set()
        await everybody.wait()
        return proto(b"x")

    async with far_end(answer) as end, endpoint_at(end.url) as endpoint:
        calls = [endpoint.call(INFO, b"", HEADERS, 30.0) for _ in range(300)]
        assert {got.body for got in await asyncio.gather(*calls)} == {b"x"}
