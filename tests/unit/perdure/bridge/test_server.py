"""The bridge in front of an embedded server: what a gRPC client sees is what it would see without a bridge."""

import asyncio
from contextlib import asynccontextmanager

import grpc
import grpc.aio
import pytest
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from temporalio.api.errordetails.v1 import NamespaceNotFoundFailure
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    GetSystemInfoRequest,
    PollWorkflowTaskQueueRequest,
    WorkflowServiceStub,
)

from durable_core.wire.http import REQUEST_BYTES_MAX
from durable_core.wire.methods import OPERATOR_SERVICE_NAME, WORKFLOW_SERVICE_NAME
from perdure.bridge import health as health_module
from perdure.bridge.authorization import Bearer
from perdure.bridge.polling import Polls
from perdure.bridge.server import BridgeServer
from tests.unit.perdure.bridge.far_ends import endpoint_at, far_end, never, proto
from tests.unit.perdure.systems import running

pytestmark = pytest.mark.asyncio
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@asynccontextmanager
async def bridge_before(url, authorization=None):
    """A bridge before that address, and a channel to it."""
    async with endpoint_at(url, authorization) as endpoint:
        bridge = BridgeServer(endpoint, Polls(endpoint, None), with_authorization=authorization is None)
        port = await bridge.start("127.0.0.1", 0)
        options = [("grpc.max_send_message_length", -1)]
        try:
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
                yield bridge, channel
        finally:
            await bridge.drain(0)


@asynccontextmanager
async def bridged():
    """A running tiny system behind a bridge, and a channel to the bridge."""
    async with (
        running() as server,
        bridge_before(f"http://127.0.0.1:{server.server.http_port}") as (bridge, channel),
    ):
        yield server, bridge, channel


def poll(channel, timeout=20.0):
    stub = WorkflowServiceStub(channel)
    return stub.PollWorkflowTaskQueue(PollWorkflowTaskQueueRequest(task_queue={"name": "q"}), timeout=timeout)


async def test_a_call_is_answered():
    async with bridged() as (_, _, channel):
        answer = await WorkflowServiceStub(channel).GetSystemInfo(GetSystemInfoRequest(), timeout=10)
        assert answer.server_version == "tiny"


async def test_a_call_without_a_deadline_is_answered():
    async with bridged() as (_, _, channel):
        answer = await WorkflowServiceStub(channel).GetSystemInfo(GetSystemInfoRequest())
        assert answer.server_version == "tiny"


async def test_an_error_carries_code_message_and_detail():
    async with bridged() as (_, _, channel):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await WorkflowServiceStub(channel).DescribeNamespace(
                DescribeNamespaceRequest(namespace="no"), timeout=10
            )
        error = raised.value
        status = Status.FromString(dict(error.trailing_metadata())["grpc-status-details-bin"])
        detail = NamespaceNotFoundFailure()
        assert error.code() == grpc.StatusCode.NOT_FOUND
        assert error.details() == status.message == "Namespace no is not found."
        assert status.details[0].Unpack(detail)
        assert detail.namespace == "no"


@pytest.mark.parametrize(
    "path, data, code, message",
    [
        (
            f"/{WORKFLOW_SERVICE_NAME}/Nope",
            b"",
            "UNIMPLEMENTED",
            f"unknown method Nope for service {WORKFLOW_SERVICE_NAME}",
        ),
        ("/foo.Bar/Baz", b"", "UNIMPLEMENTED", "unknown service foo.Bar"),
        ("/foo.Bar/Baz?x=y", b"", "UNIMPLEMENTED", "malformed method name"),
        ("/../x", b"", "UNIMPLEMENTED", ""),
        (f"/{WORKFLOW_SERVICE_NAME}/DescribeNamespace", b"\x0a\x06broken", "INTERNAL", "ZeroDivisionError"),
        (
            f"/{WORKFLOW_SERVICE_NAME}/DescribeNamespace",
            b"\0" * (REQUEST_BYTES_MAX + 1),
            "RESOURCE_EXHAUSTED",
            f"grpc: received message larger than max ({REQUEST_BYTES_MAX + 1} vs. {REQUEST_BYTES_MAX})",
        ),
    ],
)
async def test_what_cannot_be_answered_says_why(path, data, code, message):
    async with bridged() as (_, _, channel):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await channel.unary_unary(path)(data, timeout=10)
        assert raised.value.code().name == code
        assert message in raised.value.details()


async def test_a_poll_waits_until_there_is_a_task():
    async with bridged() as (server, _, channel):
        waiting = asyncio.ensure_future(poll(channel))
        await server.until_waiting("q")
        server.send("q", b"word")
        assert (await waiting).task_token == b"word"


async def test_a_poll_answers_empty_before_its_callers_deadline():
    async with bridged() as (_, _, channel):
        assert (await poll(channel, timeout=0.5)).task_token == b""


async def test_a_cancelled_poll_is_abandoned_at_the_far_end_and_takes_no_word():
    async with bridged() as (server, _, channel):
        left = asyncio.ensure_future(poll(channel))
        await server.until_waiting("q")
        left.cancel()
        assert (await asyncio.wait_for(server.system.abandoned.get(), 10))[0] == "q"
        server.send("q", b"word")
        assert (await poll(channel)).task_token == b"word"


async def test_a_deadline_reaches_the_service():
    async with bridged() as (server, _, channel):
        server.system.words["q"] = [b"word"]
        before = server.system.clock.now()
        await poll(channel, timeout=10)
        assert 8.0 < (server.system.tried[0].deadline - before) / 1e9 < 10.5


async def test_a_call_whose_deadline_passes_hangs_up():
    async with far_end(never) as end, bridge_before(end.url) as (_, channel):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await WorkflowServiceStub(channel).GetSystemInfo(GetSystemInfoRequest(), timeout=0.3)
        assert raised.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        await asyncio.wait_for(end.left.get(), 10)


async def test_metadata_reaches_the_service():
    async with bridged() as (server, _, channel):
        server.system.words["q"] = [b"word"]
        stub = WorkflowServiceStub(channel)
        request = PollWorkflowTaskQueueRequest(task_queue={"name": "q"})
        await stub.PollWorkflowTaskQueue(request, timeout=10, metadata=[("client-name", "test")])
        assert server.system.tried[0].headers["client-name"] == "test"


@pytest.mark.parametrize("token, expected", [("ours", "Bearer ours"), (None, "Bearer theirs")])
async def test_the_bridges_token_takes_the_place_of_the_callers(token, expected):
    async def answer(_):
        return proto(b"")

    authorization = None if token is None else Bearer(token, None)
    async with far_end(answer) as end, bridge_before(end.url, authorization) as (_, channel):
        stub = WorkflowServiceStub(channel)
        await stub.GetSystemInfo(
            GetSystemInfoRequest(), timeout=10, metadata=[("authorization", "Bearer theirs")]
        )
        assert end.asked[0].headers["authorization"] == expected


@pytest.mark.parametrize("service", ["", WORKFLOW_SERVICE_NAME, OPERATOR_SERVICE_NAME])
async def test_health_says_serving_while_the_endpoint_answers(service):
    async with bridged() as (_, _, channel):
        stub = health_pb2_grpc.HealthStub(channel)
        answer = await stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=10)
        assert answer.status == SERVING


async def test_health_follows_the_endpoint(monkeypatch):
    monkeypatch.setattr(health_module, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(health_module, "WATCH_SECONDS", 0.01)
    broken = asyncio.Event()

    async def answer(_):
        if broken.is_set():
            raise RuntimeError("broken")
        return proto(b"")

    async with far_end(answer) as end, bridge_before(end.url) as (bridge, channel):
        stub = health_pb2_grpc.HealthStub(channel)
        watching = stub.Watch(health_pb2.HealthCheckRequest(), timeout=20)
        assert (await watching.read()).status == SERVING
        broken.set()
        assert (await watching.read()).status == NOT_SERVING
        assert (await stub.Check(health_pb2.HealthCheckRequest(), timeout=10)).status == NOT_SERVING
        broken.clear()
        assert (await watching.read()).status == SERVING
        await bridge.drain(5)
        assert (await watching.read()).status == NOT_SERVING


async def test_health_does_not_know_other_services():
    async with bridged() as (_, _, channel):
        stub = health_pb2_grpc.HealthStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await stub.Check(health_pb2.HealthCheckRequest(service="nope"), timeout=10)
        assert raised.value.code() is grpc.StatusCode.NOT_FOUND


async def test_checks_that_come_together_ask_the_endpoint_once():
    async def answer(_):
        return proto(b"")

    async with far_end(answer) as end, bridge_before(end.url) as (_, channel):
        stub = health_pb2_grpc.HealthStub(channel)
        checks = [stub.Check(health_pb2.HealthCheckRequest(), timeout=10) for _ in range(20)]
        assert {(await check).status for check in checks} == {SERVING}
        assert len(end.asked) == 1


async def test_reflection_lists_the_services():
    async with bridged() as (_, _, channel):
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        call = stub.ServerReflectionInfo(timeout=10)
        await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
        answer = await call.read()
        await call.done_writing()
        names = {service.name for service in answer.list_services_response.service}
        assert {WORKFLOW_SERVICE_NAME, OPERATOR_SERVICE_NAME, "grpc.health.v1.Health"} <= names


async def test_draining_answers_waiting_polls_and_lets_calls_finish():
    finish = asyncio.Event()

    async def answer(asked):
        if asked.path.endswith("GetSystemInfo"):
            await finish.wait()
            return proto(b"")
        return await never(asked)

    async with far_end(answer) as end, bridge_before(end.url) as (bridge, channel):
        waiting = asyncio.ensure_future(poll(channel))
        call = asyncio.ensure_future(
            WorkflowServiceStub(channel).GetSystemInfo(GetSystemInfoRequest(), timeout=10)
        )
        for _ in range(2):
            await asyncio.wait_for(end.arrived.get(), 10)
        draining = asyncio.create_task(bridge.drain(10))
        assert (await waiting).task_token == b""
        finish.set()
        await call
        await draining


async def test_a_port_that_is_taken_is_an_os_error():
    async with bridged() as (server, bridge, _):
        with pytest.raises(OSError, match="cannot listen"):
            await bridge.start("127.0.0.1", server.server.port)
