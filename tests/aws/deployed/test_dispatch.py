"""Two ways lead from a transition to its queue, the writer's own and the relay's, and each of them alone is enough.

Each test has a deployment of its own, which it changes under running workflows. What faults do on either way is for
`tests/faults`.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
from temporalio.client import Client
from temporalio.worker import Worker

from localstack.bridge import bridge
from localstack.deployment import Deployments
from localstack.local_aws import LocalAws
from tests.aws.deployed.clients import client_of
from tests.aws.deployed.sharing import given_url
from tests.aws.deployed.workflows import (
    ACTIVITIES,
    WORKFLOWS,
    Counting,
    Hello,
    Parent,
    Retrying,
    Sleeping,
    Waiting,
)

PATIENCE_SECONDS = 200
# A batch that the relay has in hand when its stream is taken from it.
SETTLED_MS = 2_000

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(400)]


@asynccontextmanager
async def connected(aws: LocalAws, url: str, folder) -> AsyncIterator[Client]:
    with bridge(aws, url, folder) as running:
        yield await Client.connect(running.address)


def worker(client: Client, queue: str) -> Worker:
    return Worker(client, task_queue=queue, workflows=WORKFLOWS, activities=ACTIVITIES)


async def all_finish(client: Client, queue: str) -> None:
    """Activities, retries, timers, children, continue-as-new, signals, queries and updates, one after the other."""

    async def run(workflow, *arguments):
        workflow_id = f"{queue}-{workflow.__qualname__}-{uuid4()}"
        return await client.execute_workflow(workflow, args=arguments, id=workflow_id, task_queue=queue)

    assert await run(Hello.run, "you") == "Hello, you!"
    assert await run(Retrying.run) == 3
    assert await run(Sleeping.run, 1.5) >= 1.5
    assert await run(Parent.run, "parent") == "Hello, parent!"
    assert await run(Counting.run, 2)
    talk = await client.start_workflow(Waiting.run, id=f"{queue}-talk", task_queue=queue)
    await talk.signal(Waiting.tell, "one")
    assert await talk.query(Waiting.told) == 1
    assert await talk.execute_update(Waiting.ask, "two") == 2
    await talk.signal(Waiting.tell, "end")
    assert await talk.result() == ["one", "two", "end"]


@pytest.fixture
def parameters(unique: str, deployments: Deployments) -> Iterator[dict[str, str]]:
    """Of a deployment that no other test uses, and that is removed with the test."""
    chosen = {"name": f"own-{unique[-8:]}", "bundle": "lambda" if given_url() else "local", "shards": "16"}
    yield chosen
    deployments.destroy(chosen)


async def test_the_relay_is_enough_and_a_changed_parameter_keeps_running_workflows(
    aws, deployments, parameters, unique, tmp_path
):
    alone = {**parameters, "fast_path": "off"}
    deployed = await asyncio.to_thread(deployments.deploy, alone)
    async with connected(aws, deployed.url, tmp_path) as client, asyncio.timeout(PATIENCE_SECONDS):
        async with worker(client, unique):
            await all_finish(client, unique)
            kept = await client.start_workflow(Waiting.run, id=unique, task_queue=unique)
            await kept.execute_update(Waiting.ask, "before")
        changed = await asyncio.to_thread(deployments.deploy, {**parameters, "fast_path": "on"})
        assert changed.url == deployed.url
        async with worker(client, unique):
            await kept.signal(Waiting.tell, "end")
            assert await kept.result() == ["before", "end"]


async def test_the_fast_path_is_enough_where_it_succeeds(aws, deployments, parameters, unique, tmp_path):
    deployed = await asyncio.to_thread(deployments.deploy, parameters)
    async with (
        connected(aws, deployed.url, tmp_path) as client,
        asyncio.timeout(PATIENCE_SECONDS),
        worker(client, unique),
    ):
        # It gives up soon, so the processes that just start get what the relay brings.
        await client.execute_workflow(Parent.run, "first", id=unique, task_queue=unique)
        relay = _without_relay(aws, parameters["name"])
        now_ms = int(time.time() * 1000)
        await all_finish(client, unique)
    logs = client_of(aws, "logs").filter_log_events(
        logGroupName=f"/aws/lambda/{relay}", startTime=now_ms + SETTLED_MS
    )
    assert not logs["events"], "the relay has worked"


def _without_relay(aws: LocalAws, name: str) -> str:
    """Take the stream from the relay; the name of its function."""
    functions = client_of(aws, "lambda")
    relay = f"{name}-relay"
    [source] = functions.list_event_source_mappings(FunctionName=relay)["EventSourceMappings"]
    functions.update_event_source_mapping(UUID=source["UUID"], Enabled=False)
    return relay
