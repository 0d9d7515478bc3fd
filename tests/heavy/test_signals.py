"""A run that gets as many signals as a run may."""

import asyncio

import grpc
import pytest

from durable_core.model import limits
from tests.heavy.reading import history, rest_of_task
from tests.parity.environment import type_name
from tests.parity.raw_worker import RawWorker, complete_workflow, payloads

pytestmark = pytest.mark.asyncio

AT_ONCE = 100
SAMPLES = 200


async def send(env, workflow_id, numbers):
    """Send the numbered signals, many at once, each under a request ID of its own."""
    for first in range(numbers.start, numbers.stop, AT_ONCE):
        batch = range(first, min(first + AT_ONCE, numbers.stop))
        await asyncio.gather(*(one(env, workflow_id, number) for number in batch))


async def one(env, workflow_id, number):
    await env.signal(str(number), workflow_id, request_id=f"request-{number}", input=payloads(str(number)))


async def test_ten_thousand_signals_are_all_there_once_and_in_the_order_of_their_acknowledgement(env, meter):
    many = limits.signals_per_run_max
    # The worker reads all events within its task's time: on an emulated AWS that takes longer than the usual 10 s.
    await env.start(env.id(), workflow_task_timeout={"seconds": 60})
    small = await meter.cost(one(env, env.id(), number) for number in range(SAMPLES))
    await send(env, env.id(), range(SAMPLES, many - SAMPLES))
    large = await meter.cost(one(env, env.id(), number) for number in range(many - SAMPLES, many))
    meter.compare("a signal, to a new run and to one with 10,000", small, large)

    await send(env, env.id(), range(many - 100, many))  # again, under the same request IDs
    described = await env.describe()
    assert described.workflow_execution_info.history_length == many + 2
    events = await history(env, env.id())
    names = [event.workflow_execution_signaled_event_attributes.signal_name for event in events[2:]]
    assert sorted(names, key=int) == [str(number) for number in range(many)]
    assert names[:SAMPLES] == [str(number) for number in range(SAMPLES)]
    assert names[-SAMPLES:] == [str(number) for number in range(many - SAMPLES, many)]

    with pytest.raises(grpc.aio.AioRpcError, match="limit") as caught:
        await one(env, env.id(), many)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT

    worker = RawWorker(env)
    task = await worker.workflow_task()
    brought = await rest_of_task(env, task, env.id())
    assert [type_name(event) for event in brought[-2:]] == [
        "WORKFLOW_EXECUTION_SIGNALED",
        "WORKFLOW_TASK_STARTED",
    ]
    assert brought[:-1] == events
    await worker.complete(task, complete_workflow())
    assert type_name((await history(env, env.id()))[-1]) == "WORKFLOW_EXECUTION_COMPLETED"
