"""gRPC as a client sees it: answers, errors with details, long polls, health, reflection, and the end."""

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

from durable_core.wire.methods import OPERATOR_SERVICE_NAME, WORKFLOW_SERVICE_NAME
from perdure.dev.grpc_edge import REQUEST_BYTES_MAX
from tests.unit.perdure.systems import running

pytestmark = pytest.mark.asyncio


@asynccontextmanager
async def connected():
    """A running tiny system and a channel to it."""
    async with running() as server:
        options = [("grpc.max_send_message_length", -1)]
        address = f"127.0.0.1:{server.server.port}"
        async with grpc.aio.insecure_channel(address, options=options) as channel:
            yield server, channel


def poll(channel, timeout=20):
    stub = WorkflowServiceStub(channel)
    return stub.PollWorkflowTaskQueue(PollWorkflowTaskQueueRequest(task_queue={"name": "q"}), timeout=timeout)


async def test_a_call_is_answered():
    async with connected() as (_, channel):
        answer = await WorkflowServiceStub(channel).GetSystemInfo(GetSystemInfoRequest(), timeout=10)
        assert answer.server_version == "tiny"


async def test_an_error_carries_code_message_and_detail():
    async with connected() as (_, channel):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await WorkflowServiceStub(channel).DescribeNamespace(
                DescribeNamespaceRequest(namespace="no"), timeout=10
            )
        error = raised.value
        status = Status.FromString(dict(error.trailing_metadata())["grpc-status-details-bin"])
        detail = NamespaceNotFoundFailure()
        assert error.code() == grpc.StatusCode.NOT_FOUND
        assert error.details() == status.message == "Namespace no is not found."
        assert status.code == 5
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
        (
            f"/{WORKFLOW_SERVICE_NAME}/PauseActivity",
            b"",
            "UNIMPLEMENTED",
            "method PauseActivity is not implemented",
        ),
        (
            f"/{WORKFLOW_SERVICE_NAME}/DescribeNamespace",
            b"\xff",
            "INTERNAL",
            "grpc: error unmarshalling request",
        ),
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
    async with connected() as (_, channel):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await channel.unary_unary(path)(data, timeout=10)
        assert raised.value.code().name == code
        assert message in raised.value.details()


async def test_a_poll_waits_for_its_queue_and_one_word_wakes_one_poll():
    async with connected() as (server, channel):
        polls = [asyncio.ensure_future(poll(channel)) for _ in range(2)]
        await server.until_waiting("q", 2)
        server.send("q", b"word")
        done, waiting = await asyncio.wait(polls, return_when=asyncio.FIRST_COMPLETED)
        assert [one.result().task_token for one in done] == [b"word"]
        server.send("q", b"more")
        assert [(await one).task_token for one in waiting] == [b"more"]


async def test_a_poll_answers_empty_before_its_callers_deadline():
    async with connected() as (_, channel):
        answer = await poll(channel, timeout=0.5)
        assert answer.task_token == b""


async def test_a_cancelled_poll_is_abandoned_and_takes_no_word():
    async with connected() as (server, channel):
        left = asyncio.ensure_future(poll(channel))
        await server.until_waiting("q")
        left.cancel()
        assert (await asyncio.wait_for(server.system.abandoned.get(), 10))[0] == "q"
        server.send("q", b"word")
        assert (await poll(channel)).task_token == b"word"


async def test_headers_reach_a_service_that_waits():
    async with connected() as (server, channel):
        server.system.words["q"] = [b"word"]
        stub = WorkflowServiceStub(channel)
        request = PollWorkflowTaskQueueRequest(task_queue={"name": "q"})
        await stub.PollWorkflowTaskQueue(request, timeout=10, metadata=[("client-name", "test")])
        assert server.system.tried[0].headers["client-name"] == "test"


@pytest.mark.parametrize("service", ["", WORKFLOW_SERVICE_NAME, OPERATOR_SERVICE_NAME])
async def test_health_says_serving(service):
    async with connected() as (_, channel):
        stub = health_pb2_grpc.HealthStub(channel)
        answer = await stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=10)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def test_reflection_lists_the_services():
    async with connected() as (_, channel):
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        call = stub.ServerReflectionInfo(timeout=10)
        await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
        answer = await call.read()
        await call.done_writing()
        names = {service.name for service in answer.list_services_response.service}
        assert {WORKFLOW_SERVICE_NAME, OPERATOR_SERVICE_NAME, "grpc.health.v1.Health"} <= names


async def test_draining_answers_waiting_polls_and_closes_the_database():
    async with connected() as (server, channel):
        waiting = asyncio.ensure_future(poll(channel))
        await server.until_waiting("q")
        await server.server.drain()
        assert (await waiting).task_token == b""
        assert server.system.closed


async def test_a_port_that_is_taken_is_an_os_error():
    async with connected() as (server, _):
        from perdure.dev.grpc_edge import GrpcEdge
        from tests.unit.perdure.systems import tiny_table

        edge = GrpcEdge(tiny_table(), server.server._answering)
        with pytest.raises(OSError, match="cannot listen"):
            await edge.start("127.0.0.1", server.server.port)
        await edge.stop(0)
