"""A server that is killed in the middle and started again on its file goes on as if nothing had been.

Workers and clients stay up all the time and get no help: they are the official SDK's, with its own retries.
"""

import asyncio
from datetime import timedelta

import pytest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.worker import Worker

from perdure.demo.server import ServerError, ServerProcess, dev_command, free_port
from tests.sdk.samples.conversations import ConversationWorkflow, TimerWorkflow
from tests.sdk.samples.families import ParentThatWaitsWorkflow, WaitingChildWorkflow
from tests.sdk.samples.greetings import (
    Call,
    CallWorkflow,
    GreetingWorkflow,
    complete_elsewhere,
    greet,
    greet_on_third_attempt,
)
from tests.sdk.waiting import event_names, events, eventually, later

pytestmark = pytest.mark.asyncio

WORKFLOWS = [
    CallWorkflow,
    ConversationWorkflow,
    GreetingWorkflow,
    ParentThatWaitsWorkflow,
    TimerWorkflow,
    WaitingChildWorkflow,
]


def worker(client: Client, task_queue: str) -> Worker:
    return Worker(
        client,
        task_queue=task_queue,
        workflows=WORKFLOWS,
        activities=[complete_elsewhere, greet, greet_on_third_attempt],
    )


async def restart(server) -> None:
    await asyncio.to_thread(server.kill)
    await asyncio.to_thread(server.start)


async def test_everything_in_flight_survives_a_kill(mortal_server):
    """A timer, a signal, a child, an activity out with somebody else, and a run without a worker: all at once."""
    server, address = mortal_server
    client = await Client.connect(address)

    async def is_out() -> bool:
        pending = (await out.describe()).raw_description.pending_activities
        return bool(pending) and pending[0].HasField("last_started_time")

    async def has_child() -> bool:
        return "ChildWorkflowExecutionStarted" in await event_names(parent)

    async with worker(client, "survival"):
        orphan = await client.start_workflow(
            GreetingWorkflow.run, "late", id="orphan", task_queue="survival-late"
        )
        timer = await client.start_workflow(TimerWorkflow.run, 3000, id="timer", task_queue="survival")
        talk = await client.start_workflow(ConversationWorkflow.run, id="talk", task_queue="survival")
        parent = await client.start_workflow(ParentThatWaitsWorkflow.run, id="parent", task_queue="survival")
        out = await client.start_workflow(
            CallWorkflow.run,
            Call("complete_elsewhere", start_to_close_ms=60_000),
            id="out",
            task_queue="survival",
        )
        await eventually(is_out)
        await eventually(has_child)
        for number in range(10):
            await talk.signal(ConversationWorkflow.say, str(number))
        before = {handle.id: await events(handle) for handle in (orphan, talk, parent, out)}

        await restart(server)

        for handle in (orphan, talk, parent, out):
            now = await events(handle)
            assert now[: len(before[handle.id])] == before[handle.id], handle.id
        assert await talk.query(ConversationWorkflow.heard) == [str(number) for number in range(10)]
        await talk.signal(ConversationWorkflow.finish)
        assert await talk.result() == [str(number) for number in range(10)]
        await client.get_workflow_handle("parent-child").signal(WaitingChildWorkflow.release)
        assert await parent.result() == "released"
        await client.get_async_activity_handle(
            workflow_id="out", run_id=out.first_execution_run_id, activity_id="1"
        ).complete("back")
        assert await out.result() == "back"
        assert await timer.result() >= 3
    async with worker(client, "survival-late"):
        assert await orphan.result() == "Hello, late!"


async def test_a_timer_that_came_due_while_the_server_was_dead_fires_after_its_start(mortal_server):
    server, address = mortal_server
    client = await Client.connect(address)
    async with worker(client, "survival"):
        handle = await client.start_workflow(TimerWorkflow.run, 700, id="nap", task_queue="survival")

        async def sleeps() -> bool:
            return "TimerStarted" in await event_names(handle)

        await eventually(sleeps)
        await asyncio.to_thread(server.kill)
        await asyncio.sleep(1)  # the passing of this very second is what the test is about
        await asyncio.to_thread(server.start)
        assert 0.7 <= await handle.result() < 30


async def test_retries_go_on_counting_across_a_kill(mortal_server):
    server, address = mortal_server
    client = await Client.connect(address)
    async with worker(client, "survival"):
        handle = await client.start_workflow(
            CallWorkflow.run, Call("nobody_wrote_this"), id="retried", task_queue="survival"
        )

        async def attempts() -> int:
            pending = (await handle.describe()).raw_description.pending_activities
            return pending[0].attempt if pending else 0

        async def retried() -> bool:
            return await attempts() >= 3

        await eventually(retried)
        before = await attempts()
        await restart(server)
        assert await attempts() >= before
        await handle.terminate()


async def test_a_client_that_waits_for_a_result_gets_it_across_two_kills(mortal_server):
    server, address = mortal_server
    client = await Client.connect(address)
    async with worker(client, "survival"):
        handle = await client.start_workflow(ConversationWorkflow.run, id="awaited", task_queue="survival")
        # The first workflow task is answered by then; one that the kill takes with it would be given out anew only
        # after its time-out, which is right, but long.
        assert await handle.query(ConversationWorkflow.heard) == []
        waiting = asyncio.create_task(handle.result())
        for _ in range(2):
            await restart(server)
            await handle.signal(ConversationWorkflow.say, "still here")
        await handle.signal(ConversationWorkflow.finish)
        assert await asyncio.wait_for(waiting, 60) == ["still here", "still here"]


async def run_three_to_their_end(client: Client) -> None:
    async with worker(client, "survival"):
        for number in range(3):
            await client.execute_workflow(
                GreetingWorkflow.run, str(number), id=f"done-{number}", task_queue="survival"
            )


async def test_closed_runs_survive(mortal_server):
    server, address = mortal_server
    client = await Client.connect(address)
    await run_three_to_their_end(client)
    await restart(server)
    for number in range(3):
        handle = client.get_workflow_handle(f"done-{number}")
        assert await handle.result() == f"Hello, {number}!"
        assert (await handle.describe()).status == WorkflowExecutionStatus.COMPLETED


@later
async def test_the_listing_of_closed_runs_survives(mortal_server):
    server, address = mortal_server
    client = await Client.connect(address)
    await run_three_to_their_end(client)
    await restart(server)

    async def all_listed() -> bool:
        found = {run.id async for run in client.list_workflows("ExecutionStatus = 'Completed'")}
        return found == {"done-0", "done-1", "done-2"}

    await eventually(all_listed)


async def test_a_second_server_on_the_same_file_is_refused_and_the_first_serves_on(mortal_server, tmp_path):
    _, address = mortal_server
    client = await Client.connect(address)
    rival = ServerProcess(
        dev_command(free_port(), free_port(), tmp_path / "perdure.db"), tmp_path / "rival.log"
    )
    with pytest.raises(ServerError, match=r"perdure\.db"):
        await asyncio.to_thread(rival.start)
    async with worker(client, "survival"):
        result = await client.execute_workflow(
            GreetingWorkflow.run, "Ada", id="first-served", task_queue="survival"
        )
    assert result == "Hello, Ada!"


async def test_an_orderly_stop_keeps_everything_too(mortal_server):
    server, address = mortal_server
    client = await Client.connect(address)
    handle = await client.start_workflow(
        ConversationWorkflow.run, id="kept", task_queue="survival", execution_timeout=timedelta(hours=1)
    )
    await handle.signal(ConversationWorkflow.finish)
    await asyncio.to_thread(server.stop)
    await asyncio.to_thread(server.start)
    async with worker(client, "survival"):
        assert await handle.result() == []
