"""Payloads of almost 2 MB, which is the most that one may have, wherever a payload may be."""

import asyncio

import grpc
import pytest

from durable_core.model import limits
from tests.heavy.reading import history, pages
from tests.parity.environment import type_name
from tests.parity.raw_worker import (
    RawWorker,
    command,
    complete_workflow,
    schedule_activity,
)

pytestmark = pytest.mark.asyncio

LARGE = limits.blob_bytes_max - 1024
SAMPLES = 20


def blob(size, letter="x"):
    """Payloads of one value with so many bytes of data."""
    return {"payloads": [{"metadata": {"encoding": b"binary/plain"}, "data": letter.encode() * size}]}


MOST = blob(limits.blob_bytes_max - 40)
"""All but as large as payloads may be: what is around the data takes some 35 bytes."""


def data(payloads):
    (one,) = payloads.payloads
    return one.data


async def test_the_largest_payloads_come_through_each_way(env):
    worker = RawWorker(env)
    await env.start(input=blob(LARGE, "a"))
    for number in range(3):
        await env.signal(str(number), input=blob(LARGE, "s"))
    task = await worker.workflow_task()
    await worker.complete(
        task,
        schedule_activity(env, input=blob(LARGE, "i")),
        command("RECORD_MARKER", marker_name="marker", details={"d": blob(LARGE, "m")}),
    )
    activity = await worker.activity_task()
    assert data(activity.input) == b"i" * LARGE
    await env.call("RecordActivityTaskHeartbeat", task_token=activity.task_token, details=blob(LARGE, "h"))
    (pending,) = (await env.describe()).pending_activities
    assert data(pending.heartbeat_details) == b"h" * LARGE
    await env.call("RespondActivityTaskCompleted", task_token=activity.task_token, result=blob(LARGE, "r"))
    await worker.step(command("COMPLETE_WORKFLOW_EXECUTION", result=blob(LARGE, "z")))

    events = await history(env, env.id())
    assert data(events[0].workflow_execution_started_event_attributes.input) == b"a" * LARGE
    signals = [event for event in events if type_name(event) == "WORKFLOW_EXECUTION_SIGNALED"]
    assert [data(event.workflow_execution_signaled_event_attributes.input) for event in signals] == [
        b"s" * LARGE
    ] * 3
    (marked,) = [event for event in events if type_name(event) == "MARKER_RECORDED"]
    assert data(marked.marker_recorded_event_attributes.details["d"]) == b"m" * LARGE
    assert data(events[-1].workflow_execution_completed_event_attributes.result) == b"z" * LARGE
    info = (await env.describe()).workflow_execution_info
    assert info.history_size_bytes > 7 * LARGE


async def test_no_page_is_larger_than_a_message_may_be_when_each_payload_is_as_large_as_it_may_be(env):
    await env.start(input=MOST)
    for _ in range(6):
        await env.signal(input=MOST)
    await both_directions(env, 8)


async def test_no_page_is_larger_than_a_message_may_be_when_a_large_transition_follows_small_ones(env):
    """One task wrote almost 4 MB, which fills a page alone, whatever stands before and after it."""
    await env.start()
    await env.signal(input=blob(LARGE))
    markers = [command("RECORD_MARKER", marker_name="m", details={"d": blob(LARGE - 20_000)})] * 2
    worker = RawWorker(env)
    await worker.step(*markers)
    await env.signal(input=blob(LARGE))
    await both_directions(env, 9)


async def both_directions(env, last_event_id):
    """`pages` fails for a page that is too large; here every event is seen."""
    ids = list(range(1, last_event_id + 1))
    found = await pages(env, env.id())
    assert [event.event_id for page in found for event in page] == ids
    backward = await pages(env, env.id(), reverse=True)
    assert [event.event_id for page in backward for event in page] == ids[::-1]


async def test_a_query_takes_and_gives_a_large_payload(env):
    worker = RawWorker(env)
    await env.start()
    await worker.step()
    query = {"query_type": "echo", "query_args": blob(LARGE, "q")}
    asked = asyncio.create_task(env.call("QueryWorkflow", execution={"workflow_id": env.id()}, query=query))
    task = await worker.workflow_task()
    assert data(task.query.query_args) == b"q" * LARGE
    await env.call(
        "RespondQueryTaskCompleted",
        task_token=task.task_token,
        completed_type="QUERY_RESULT_TYPE_ANSWERED",
        query_result=blob(LARGE, "w"),
    )
    assert data((await asked).query_result) == b"w" * LARGE


async def test_what_is_larger_than_a_payload_may_be_is_refused_and_leaves_no_trace(env):
    with pytest.raises(grpc.aio.AioRpcError, match="Blob data size exceeds limit") as caught:
        await env.start(input=blob(limits.blob_bytes_max + 1))
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    await env.start()
    with pytest.raises(grpc.aio.AioRpcError, match="Blob data size exceeds limit") as caught:
        await env.signal(input=blob(limits.blob_bytes_max + 1))
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert len(await history(env, env.id())) == 2


async def test_an_answer_larger_than_a_message_may_be_is_refused_and_its_task_goes_on(env):
    worker = RawWorker(env)
    await env.start()
    task = await worker.workflow_task()
    activities = [schedule_activity(env, str(number), input=blob(LARGE)) for number in range(3)]
    with pytest.raises(grpc.aio.AioRpcError, match="larger than max") as caught:
        await worker.complete(task, *activities)
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    await worker.complete(task, activities[0], complete_workflow())
    assert type_name((await history(env, env.id()))[-1]) == "WORKFLOW_EXECUTION_COMPLETED"


async def test_large_payloads_lying_in_a_history_do_not_make_the_next_transitions_dearer(env, meter):
    costs = []
    for name, size in (("small", 10), ("large", LARGE)):
        await env.start(env.id(name), input=blob(size))
        for _ in range(10):
            await env.signal("first", env.id(name), input=blob(size))
        costs.append(await meter.cost(env.signal("then", env.id(name)) for _ in range(SAMPLES * 5)))
    meter.compare("a signal: to a run with little in its history, and to one with 22 MB", *costs)
