"""Workers of the SDK, unchanged, run workflows on the deployment: tasks, timers, signals, queries, children."""

import asyncio

import pytest
import pytest_asyncio
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ActivityError
from temporalio.worker import Worker

from tests.aws.deployed.workflows import (
    ACTIVITIES,
    WORKFLOWS,
    Counting,
    Failing,
    Hello,
    Parent,
    Retrying,
    Sleeping,
    Waiting,
)

# The first call of each function starts a process, and there may be a dozen of them on a busy machine.
PATIENCE_SECONDS = 100

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(300)]


@pytest_asyncio.fixture
async def worker(client: Client, unique: str) -> Worker:
    return Worker(client, task_queue=unique, workflows=WORKFLOWS, activities=ACTIVITIES)


async def test_a_workflow_with_an_activity_finishes(client, worker, unique):
    async with worker, asyncio.timeout(PATIENCE_SECONDS):
        result = await client.execute_workflow(Hello.run, "world", id=unique, task_queue=unique)
    assert result == "Hello, world!"


async def test_an_activity_is_retried_by_its_policy(client, worker, unique):
    async with worker, asyncio.timeout(PATIENCE_SECONDS):
        assert await client.execute_workflow(Retrying.run, id=unique, task_queue=unique) == 3


async def test_an_activity_that_fails_for_good_fails_its_workflow(client, worker, unique):
    async with worker, asyncio.timeout(PATIENCE_SECONDS):
        with pytest.raises(WorkflowFailureError) as failure:
            await client.execute_workflow(Failing.run, id=unique, task_queue=unique)
    assert isinstance(failure.value.cause, ActivityError)


async def test_a_timer_never_fires_early(client, worker, unique):
    async with worker, asyncio.timeout(PATIENCE_SECONDS):
        slept = await client.execute_workflow(Sleeping.run, 2.5, id=unique, task_queue=unique)
    assert slept >= 2.5


async def test_signals_queries_and_updates_reach_a_running_workflow(client, worker, unique):
    async with worker, asyncio.timeout(PATIENCE_SECONDS):
        handle = await client.start_workflow(Waiting.run, id=unique, task_queue=unique)
        await handle.signal(Waiting.tell, "one")
        assert await handle.query(Waiting.told) == 1
        assert await handle.execute_update(Waiting.ask, "two") == 2
        await handle.signal(Waiting.tell, "end")
        assert await handle.result() == ["one", "two", "end"]


async def test_a_child_workflow_runs_and_tells_its_parent(client, worker, unique):
    async with worker, asyncio.timeout(PATIENCE_SECONDS):
        result = await client.execute_workflow(Parent.run, "parent", id=unique, task_queue=unique)
    assert result == "Hello, parent!"


async def test_a_workflow_continues_as_new(client, worker, unique):
    async with worker, asyncio.timeout(PATIENCE_SECONDS):
        handle = await client.start_workflow(Counting.run, 2, id=unique, task_queue=unique)
        assert await handle.result() not in {"", handle.result_run_id}


async def test_ten_workflows_at_once_finish(client, worker, unique):
    async with worker, asyncio.timeout(2 * PATIENCE_SECONDS):
        running = [
            client.execute_workflow(Hello.run, str(number), id=f"{unique}-{number}", task_queue=unique)
            for number in range(10)
        ]
        assert await asyncio.gather(*running) == [f"Hello, {number}!" for number in range(10)]


async def test_a_worker_that_restarts_goes_on_with_its_workflows(client, unique):
    async with asyncio.timeout(PATIENCE_SECONDS):
        async with Worker(client, task_queue=unique, workflows=WORKFLOWS, activities=ACTIVITIES):
            handle = await client.start_workflow(Waiting.run, id=unique, task_queue=unique)
            assert await handle.query(Waiting.told) == 0
        await handle.signal(Waiting.tell, "end")
        async with Worker(client, task_queue=unique, workflows=WORKFLOWS, activities=ACTIVITIES):
            assert await handle.result() == ["end"]
