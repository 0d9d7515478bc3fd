"""Updates as a client sees them: validated, accepted, completed, failed, found again.

The one thing a newcomer gets wrong: a client cannot tell a rejection from a failed handler by the error's type; the
history can, for a rejected update leaves no event.
"""

import asyncio

import pytest
from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowHandle,
    WorkflowUpdateFailedError,
    WorkflowUpdateStage,
)
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker

from tests.sdk.samples.families import ChildWorkflow
from tests.sdk.samples.greetings import greet
from tests.sdk.samples.ledgers import LedgerWorkflow
from tests.sdk.waiting import event_names, eventually

pytestmark = pytest.mark.asyncio

ACCEPTED, COMPLETED = "WorkflowExecutionUpdateAccepted", "WorkflowExecutionUpdateCompleted"


def worker(client: Client, task_queue: str) -> Worker:
    return Worker(
        client, task_queue=task_queue, workflows=[ChildWorkflow, LedgerWorkflow], activities=[greet]
    )


async def open_ledger(client: Client, unique: str) -> WorkflowHandle:
    return await client.start_workflow(LedgerWorkflow.run, id=unique, task_queue=unique)


def opening(unique: str, policy: WorkflowIDConflictPolicy) -> WithStartWorkflowOperation:
    return WithStartWorkflowOperation(
        LedgerWorkflow.run, id=unique, task_queue=unique, id_conflict_policy=policy
    )


async def test_an_update_is_answered_and_what_it_did_is_seen(client, unique):
    async with worker(client, unique):
        handle = await open_ledger(client, unique)
        assert await handle.execute_update(LedgerWorkflow.write, "one") == 1
        assert await handle.execute_update(LedgerWorkflow.write, "two") == 2
        assert await handle.query(LedgerWorkflow.entries) == ["one", "two"]
        await handle.signal(LedgerWorkflow.finish)
        assert await handle.result() == ["one", "two"]
    names = await event_names(handle)
    assert (names.count(ACCEPTED), names.count(COMPLETED)) == (2, 2)


async def test_an_accepted_update_is_told_before_it_is_completed(client, unique):
    async with worker(client, unique):
        handle = await open_ledger(client, unique)
        update = await handle.start_update(
            LedgerWorkflow.write_when_released, "later", wait_for_stage=WorkflowUpdateStage.ACCEPTED
        )
        names = await event_names(handle)
        assert (names.count(ACCEPTED), names.count(COMPLETED)) == (1, 0)
        waiting = asyncio.create_task(update.result())
        await handle.signal(LedgerWorkflow.release)
        assert await waiting == "later"
        await handle.terminate()


async def test_a_start_that_waits_for_completion_already_has_the_outcome(client, unique):
    async with worker(client, unique):
        handle = await open_ledger(client, unique)
        update = await handle.start_update(
            LedgerWorkflow.write, "one", wait_for_stage=WorkflowUpdateStage.COMPLETED
        )
    # Nobody is there any more who could answer.
    assert await update.result() == 1
    await handle.terminate()


async def test_a_rejected_update_tells_why_and_leaves_no_trace(client, unique):
    async with worker(client, unique):
        handle = await open_ledger(client, unique)
        await handle.query(LedgerWorkflow.entries)
        before = await event_names(handle)
        with pytest.raises(WorkflowUpdateFailedError) as caught:
            await handle.execute_update(LedgerWorkflow.write, "")
        assert isinstance(caught.value.cause, ApplicationError)
        assert (caught.value.cause.message, caught.value.cause.type) == ("an entry needs a text", "Empty")
        assert await event_names(handle) == before
        assert await handle.execute_update(LedgerWorkflow.write, "a text") == 1
        await handle.terminate()


async def test_an_update_that_the_workflow_does_not_know_is_rejected(client, unique):
    async with worker(client, unique):
        handle = await open_ledger(client, unique)
        with pytest.raises(WorkflowUpdateFailedError) as caught:
            await handle.execute_update("nobody_wrote_this")
        assert "nobody_wrote_this" in str(caught.value.cause)
        await handle.terminate()
    assert ACCEPTED not in await event_names(handle)


async def test_an_update_whose_handler_fails_has_its_failure_with_its_details(client, unique):
    async with worker(client, unique):
        handle = await open_ledger(client, unique)
        with pytest.raises(WorkflowUpdateFailedError) as caught:
            await handle.execute_update(LedgerWorkflow.fail, "no")
        cause = caught.value.cause
        assert isinstance(cause, ApplicationError)
        assert (cause.message, cause.type, cause.details) == ("no", "Refused", ({"written": 0},))
        await handle.signal(LedgerWorkflow.finish)
        assert await handle.result() == []
    names = await event_names(handle)
    assert (names.count(ACCEPTED), names.count(COMPLETED)) == (1, 1)


@pytest.mark.parametrize(
    "update, argument, result, event",
    [
        ("write_greeting", "Ada", "Hello, Ada!", "ActivityTaskCompleted"),
        ("write_after_nap", "rested", "rested", "TimerFired"),
        ("write_from_child", "ann", "ann, child of {id}", "ChildWorkflowExecutionCompleted"),
    ],
)
async def test_a_handler_may_do_what_a_workflow_may(client, unique, update, argument, result, event):
    async with worker(client, unique):
        handle = await open_ledger(client, unique)
        assert await handle.execute_update(update, argument) == result.format(id=unique)
        await handle.terminate()
    names = await event_names(handle)
    assert names.index(ACCEPTED) < names.index(event) < names.index(COMPLETED)


async def test_updates_in_flight_at_once_are_each_answered_with_their_own_result(client, unique):
    texts = [f"entry {number}" for number in range(10)]
    async with worker(client, unique):
        handle = await open_ledger(client, unique)
        updates = [handle.execute_update(LedgerWorkflow.write_after_nap, text) for text in texts]
        assert await asyncio.gather(*updates) == texts
        assert sorted(await handle.query(LedgerWorkflow.entries)) == texts
        await handle.terminate()


async def test_one_update_id_acts_once_in_flight_and_afterwards(client, unique):
    async with worker(client, unique):
        handle = await open_ledger(client, unique)
        twice = [
            await handle.start_update(
                LedgerWorkflow.write_when_released,
                text,
                id="the-one",
                wait_for_stage=WorkflowUpdateStage.ACCEPTED,
            )
            for text in ("first", "second")
        ]
        await handle.signal(LedgerWorkflow.release)
        assert [await update.result() for update in twice] == ["first", "first"]
        third = await handle.execute_update(LedgerWorkflow.write_when_released, "third", id="the-one")
        assert third == "first"
        assert await handle.query(LedgerWorkflow.entries) == ["first"]
        await handle.terminate()


async def test_an_outcome_is_found_by_its_id_while_the_workflow_runs_and_when_it_is_over(client, unique):
    async with worker(client, unique):
        handle = await open_ledger(client, unique)
        await handle.execute_update(LedgerWorkflow.write, "one", id="found-again")
        assert await handle.get_update_handle("found-again", result_type=int).result() == 1
        await handle.signal(LedgerWorkflow.finish)
        await handle.result()
        assert await handle.get_update_handle("found-again", result_type=int).result() == 1


async def test_an_update_that_was_never_sent_is_not_found(client, unique):
    handle = await open_ledger(client, unique)
    with pytest.raises(RPCError) as caught:
        await handle.get_update_handle("never-sent").result()
    assert caught.value.status == RPCStatusCode.NOT_FOUND
    await handle.terminate()


async def test_an_update_waits_for_a_worker(client, unique):
    handle = await open_ledger(client, unique)
    waiting = asyncio.create_task(handle.execute_update(LedgerWorkflow.write, "early"))
    async with worker(client, unique):
        assert await waiting == 1
        await handle.terminate()


async def test_an_accepted_update_goes_on_with_the_next_worker(client, unique):
    async with worker(client, unique):
        handle = await open_ledger(client, unique)
        update = await handle.start_update(
            LedgerWorkflow.write_when_released, "later", wait_for_stage=WorkflowUpdateStage.ACCEPTED
        )
    waiting = asyncio.create_task(update.result())
    await handle.signal(LedgerWorkflow.release)
    async with worker(client, unique):
        assert await waiting == "later"
        assert await handle.query(LedgerWorkflow.entries) == ["later"]
        await handle.terminate()
    assert "WorkflowTaskFailed" not in await event_names(handle)


async def test_a_workflow_that_ends_takes_its_accepted_update_with_it_and_says_so(client, unique):
    async with worker(client, unique):
        handle = await open_ledger(client, unique)
        update = await handle.start_update(
            LedgerWorkflow.write_when_released, "never", wait_for_stage=WorkflowUpdateStage.ACCEPTED
        )
        waiting = asyncio.create_task(update.result())
        await handle.signal(LedgerWorkflow.finish)
        assert await handle.result() == []
        with pytest.raises(WorkflowUpdateFailedError) as caught:
            await waiting
        cause = caught.value.cause
        assert isinstance(cause, ApplicationError)
        assert cause.type == "AcceptedUpdateCompletedWorkflow"


async def test_a_workflow_that_waits_for_its_handlers_completes_their_updates(client, unique):
    async with worker(client, unique):
        handle = await open_ledger(client, unique)
        update = await handle.start_update(
            LedgerWorkflow.write_when_released, "last", wait_for_stage=WorkflowUpdateStage.ACCEPTED
        )
        await handle.signal(LedgerWorkflow.close_down)
        await handle.signal(LedgerWorkflow.release)
        assert await update.result() == "last"
        assert await handle.result() == ["last"]


async def test_an_update_of_a_closed_workflow_says_so(client, unique):
    handle = await open_ledger(client, unique)
    await handle.terminate()
    with pytest.raises(RPCError, match="workflow execution already completed") as caught:
        await handle.execute_update(LedgerWorkflow.write, "too late")
    assert caught.value.status == RPCStatusCode.NOT_FOUND


async def test_update_with_start_starts_once_and_updates_every_time(client, unique):
    async with worker(client, unique):
        runs = set()
        for count, text in enumerate(("first", "second"), 1):
            start = opening(unique, WorkflowIDConflictPolicy.USE_EXISTING)
            written = await client.execute_update_with_start_workflow(
                LedgerWorkflow.write, text, start_workflow_operation=start
            )
            assert written == count
            runs.add((await start.workflow_handle()).first_execution_run_id)
        handle = client.get_workflow_handle(unique)
        assert await handle.query(LedgerWorkflow.entries) == ["first", "second"]
        await handle.terminate()
    assert len(runs) == 1


async def test_update_with_start_does_nothing_where_a_workflow_runs_that_it_must_not_use(client, unique):
    async with worker(client, unique):
        handle = await open_ledger(client, unique)
        start = opening(unique, WorkflowIDConflictPolicy.FAIL)
        with pytest.raises(WorkflowAlreadyStartedError):
            await client.execute_update_with_start_workflow(
                LedgerWorkflow.write, "second", start_workflow_operation=start
            )
        assert await handle.query(LedgerWorkflow.entries) == []
        await handle.terminate()


async def test_update_with_start_starts_although_the_update_is_rejected(client, unique):
    async with worker(client, unique):
        start = opening(unique, WorkflowIDConflictPolicy.FAIL)
        with pytest.raises(WorkflowUpdateFailedError, match="update failed"):
            await client.execute_update_with_start_workflow(
                LedgerWorkflow.write, "", start_workflow_operation=start
            )
        handle = client.get_workflow_handle(unique)
        assert await handle.execute_update(LedgerWorkflow.write, "a text") == 1
        await handle.terminate()


async def test_update_with_start_may_wait_for_acceptance_only(client, unique):
    async with worker(client, unique):
        start = opening(unique, WorkflowIDConflictPolicy.FAIL)
        update = await client.start_update_with_start_workflow(
            LedgerWorkflow.write_when_released,
            "later",
            start_workflow_operation=start,
            wait_for_stage=WorkflowUpdateStage.ACCEPTED,
        )
        handle = await start.workflow_handle()
        await handle.signal(LedgerWorkflow.release)
        assert await update.result() == "later"
        await handle.terminate()


# Across a kill of the server. ----------------------------------------------------------------------------------------


async def restart(server) -> None:
    await asyncio.to_thread(server.kill)
    await asyncio.to_thread(server.start)


async def test_accepted_and_completed_updates_survive_a_kill(mortal_server, unique):
    server, address = mortal_server
    client = await Client.connect(address)
    async with worker(client, unique):
        handle = await open_ledger(client, unique)
        await handle.execute_update(LedgerWorkflow.write, "before", id="completed")
        update = await handle.start_update(
            LedgerWorkflow.write_when_released, "after", wait_for_stage=WorkflowUpdateStage.ACCEPTED
        )
        waiting = asyncio.create_task(update.result())
        await restart(server)
        assert await handle.get_update_handle("completed", result_type=int).result() == 1
        assert await handle.execute_update(LedgerWorkflow.write, "again", id="completed") == 1
        await handle.signal(LedgerWorkflow.release)
        assert await asyncio.wait_for(waiting, 60) == "after"
        assert await handle.query(LedgerWorkflow.entries) == ["before", "after"]


async def test_an_update_that_no_worker_has_seen_is_answered_after_a_kill(mortal_server, unique):
    """Whether the server kept it or the client sent it again under its ID: it acts once."""
    server, address = mortal_server
    client = await Client.connect(address)
    handle = await open_ledger(client, unique)
    waiting = asyncio.create_task(handle.execute_update(LedgerWorkflow.write, "patient", id="patient"))
    await handle.signal(LedgerWorkflow.release)

    async def is_there() -> bool:
        return "WorkflowExecutionSignaled" in await event_names(handle)

    await eventually(is_there)
    await restart(server)
    async with worker(client, unique):
        assert await asyncio.wait_for(waiting, 60) == 1
        assert await handle.query(LedgerWorkflow.entries) == ["patient"]
