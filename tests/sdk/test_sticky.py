"""What a worker's cache and its loss mean: sticky tasks while it lives, replay from the history when it does
not.

The one thing a newcomer gets wrong: a worker that stops in order tells the server, so its sticky tasks move
at once; one that dies does not, and they wait for their schedule-to-start time-out.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio import workflow
from temporalio.api.enums.v1 import EventType, TaskQueueKind
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Replayer, Worker

from tests.sdk.samples.conversations import ConversationWorkflow
from tests.sdk.samples.greetings import GreetingWorkflow, greet
from tests.sdk.waiting import event_names, events, eventually, only

pytestmark = pytest.mark.asyncio

REPOSITORY = Path(__file__).resolve().parents[2]


def worker(client: Client, task_queue: str, **options: object) -> Worker:
    return Worker(
        client,
        task_queue=task_queue,
        workflows=[ConversationWorkflow, GreetingWorkflow],
        activities=[greet],
        **options,
    )


async def converse(client: Client, unique: str) -> WorkflowHandle:
    return await client.start_workflow(ConversationWorkflow.run, id=unique, task_queue=unique)


async def scheduled_kinds(handle: WorkflowHandle) -> list[TaskQueueKind.ValueType]:
    """The kinds of queue that the run's workflow tasks were scheduled on."""
    return [
        event.workflow_task_scheduled_event_attributes.task_queue.kind
        for event in await events(handle)
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED
    ]


async def test_a_second_task_goes_to_the_worker_that_knows_the_workflow(client, unique):
    async with worker(client, unique):
        handle = await converse(client, unique)
        await handle.query(ConversationWorkflow.heard)
        await handle.signal(ConversationWorkflow.finish)
        await handle.result()
    assert await scheduled_kinds(handle) == [
        TaskQueueKind.TASK_QUEUE_KIND_NORMAL,
        TaskQueueKind.TASK_QUEUE_KIND_STICKY,
    ]


async def test_a_restarted_worker_goes_on_from_the_history(client, unique):
    async with worker(client, unique):
        handle = await converse(client, unique)
        await handle.signal(ConversationWorkflow.say, "to the first worker")
        assert await handle.query(ConversationWorkflow.heard) == ["to the first worker"]
    await handle.signal(ConversationWorkflow.say, "to nobody")
    async with worker(client, unique):
        assert await handle.query(ConversationWorkflow.heard) == ["to the first worker", "to nobody"]
        await handle.signal(ConversationWorkflow.finish)
        assert await handle.result() == ["to the first worker", "to nobody"]
    assert "WorkflowTaskFailed" not in await event_names(handle)


async def test_an_orderly_stop_frees_the_sticky_tasks_at_once(client, unique):
    patient = timedelta(seconds=60)
    async with worker(client, unique, sticky_queue_schedule_to_start_timeout=patient):
        handle = await converse(client, unique)
        await handle.query(ConversationWorkflow.heard)
    await handle.signal(ConversationWorkflow.finish)
    async with worker(client, unique):
        await asyncio.wait_for(handle.result(), 10)
    assert "WorkflowTaskTimedOut" not in await event_names(handle)


async def test_a_worker_without_a_cache_replays_every_time(client, unique):
    async with worker(client, unique, max_cached_workflows=0):
        handle = await converse(client, unique)
        for text in ("a", "b"):
            await handle.signal(ConversationWorkflow.say, text)
            await handle.query(ConversationWorkflow.heard)
        await handle.signal(ConversationWorkflow.finish)
        assert await handle.result() == ["a", "b"]
    assert set(await scheduled_kinds(handle)) == {TaskQueueKind.TASK_QUEUE_KIND_NORMAL}


async def test_a_finished_history_replays(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(GreetingWorkflow.run, "Ada", id=unique, task_queue=unique)
        await handle.result()
    await Replayer(workflows=[GreetingWorkflow]).replay_workflow(await handle.fetch_history())


async def test_a_long_history_reaches_a_new_worker_whole(client, unique, at_once):
    """More events than one page of history holds."""
    said = [f"word {number}" for number in range(600)]
    handle = await converse(client, unique)
    for start in range(0, len(said), at_once):
        words = said[start : start + at_once]
        await asyncio.gather(*(handle.signal(ConversationWorkflow.say, text) for text in words))
    async with worker(client, unique):
        assert sorted(await handle.query(ConversationWorkflow.heard)) == sorted(said)
    async with worker(client, unique):
        assert sorted(await handle.query(ConversationWorkflow.heard)) == sorted(said)
        await handle.signal(ConversationWorkflow.finish)
        assert sorted(await handle.result()) == sorted(said)
    paged = [event async for event in handle.fetch_history_events(page_size=7)]
    assert [event.event_id for event in paged] == list(range(1, len(paged) + 1))
    assert paged == await events(handle)


@workflow.defn(name="ConversationWorkflow", sandboxed=False)
class BrokenWorkflow:
    """What `ConversationWorkflow` looked like before its bug was found."""

    @workflow.run
    async def run(self, *_: str) -> list[str]:
        raise RuntimeError("there is a bug here")

    @workflow.signal
    def finish(self) -> None:
        pass


async def test_a_broken_workflow_waits_for_its_code_to_be_mended(client, unique):
    async def has_failed_twice() -> bool:
        pending = (await handle.describe()).raw_description.pending_workflow_task
        return pending.attempt >= 2

    handle = await client.start_workflow(
        ConversationWorkflow.run, id=unique, task_queue=unique, task_timeout=timedelta(seconds=2)
    )
    async with Worker(client, task_queue=unique, workflows=[BrokenWorkflow]):
        await eventually(has_failed_twice)
        await handle.signal(ConversationWorkflow.finish)
    async with worker(client, unique):
        assert await handle.result() == []
    names = await event_names(handle)
    assert names.count("WorkflowTaskFailed") == 1
    failed = await only(handle, EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED)
    assert "there is a bug here" in failed.workflow_task_failed_event_attributes.failure.message


@contextmanager
def worker_process(target: str, task_queue: str) -> Iterator[subprocess.Popen[bytes]]:
    """A worker in a process of its own, whose sticky tasks may wait for one second."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.sdk.samples.lone_worker", target, task_queue], cwd=REPOSITORY
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def test_a_killed_worker_s_sticky_tasks_go_to_another_in_time(client, target, unique):
    with worker_process(target, unique) as process:
        handle = await converse(client, unique)
        await handle.signal(ConversationWorkflow.say, "to the first worker")
        assert await handle.query(ConversationWorkflow.heard) == ["to the first worker"]
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    await handle.signal(ConversationWorkflow.finish)
    async with worker(client, unique):
        assert await handle.result() == ["to the first worker"]
    assert (await scheduled_kinds(handle))[-1] == TaskQueueKind.TASK_QUEUE_KIND_NORMAL


async def test_a_task_that_a_killed_worker_held_is_given_to_another(client, target, unique):
    """The first workflow task is started by the dead worker; its time-out puts it back into the queue."""

    async def is_started() -> bool:
        return "WorkflowTaskStarted" in await event_names(handle)

    stuck = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.sdk.samples.lone_worker", target, unique, "--stuck", cwd=REPOSITORY
    )
    try:
        handle = await client.start_workflow(
            ConversationWorkflow.run, id=unique, task_queue=unique, task_timeout=timedelta(seconds=2)
        )
        await handle.signal(ConversationWorkflow.finish)
        await eventually(is_started)
    finally:
        stuck.kill()
        await stuck.wait()
    async with worker(client, unique):
        assert await handle.result() == []
    assert "WorkflowTaskTimedOut" in await event_names(handle)
