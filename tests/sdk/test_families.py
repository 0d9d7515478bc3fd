"""Child workflows as their parents and their clients see them."""

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import TerminatedError
from temporalio.worker import Worker
from temporalio.workflow import ParentClosePolicy

from tests.sdk.samples.families import (
    ChildWorkflow,
    FailingChildWorkflow,
    ParentOfFailureWorkflow,
    ParentOfRivalWorkflow,
    ParentThatCancelsWorkflow,
    ParentThatClosesWorkflow,
    ParentThatWaitsWorkflow,
    ParentWorkflow,
    SignallingParentWorkflow,
    WaitingChildWorkflow,
)
from tests.sdk.waiting import event_names, events, eventually, only

pytestmark = pytest.mark.asyncio

WORKFLOWS = [
    ChildWorkflow,
    FailingChildWorkflow,
    ParentOfFailureWorkflow,
    ParentOfRivalWorkflow,
    ParentThatCancelsWorkflow,
    ParentThatClosesWorkflow,
    ParentThatWaitsWorkflow,
    ParentWorkflow,
    SignallingParentWorkflow,
    WaitingChildWorkflow,
]


def worker(client: Client, task_queue: str) -> Worker:
    return Worker(client, task_queue=task_queue, workflows=WORKFLOWS)


async def test_children_run_side_by_side_and_answer_their_parent(client, unique):
    names = ["ann", "bob", "cleo"]
    async with worker(client, unique):
        handle = await client.start_workflow(ParentWorkflow.run, names, id=unique, task_queue=unique)
        assert await handle.result() == [f"{name}, child of {unique}" for name in names]
    seen = await event_names(handle)
    assert seen.count("StartChildWorkflowExecutionInitiated") == 3
    assert seen.count("ChildWorkflowExecutionStarted") == 3
    assert seen.count("ChildWorkflowExecutionCompleted") == 3


async def test_a_child_knows_its_parent(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(ParentWorkflow.run, ["ann"], id=unique, task_queue=unique)
        await handle.result()
    child = client.get_workflow_handle(f"{unique}-ann")
    started = (await events(child))[0].workflow_execution_started_event_attributes
    initiated = await only(handle, EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED)
    assert started.parent_workflow_execution.run_id == handle.first_execution_run_id
    assert started.parent_initiated_event_id == initiated.event_id
    assert (await child.describe()).parent_id == unique


async def test_a_child_s_failure_reaches_its_parent(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(ParentOfFailureWorkflow.run, id=unique, task_queue=unique)
        assert await handle.result() == "ChildTrouble: broken toy"


async def test_a_parent_may_cancel_its_child(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(ParentThatCancelsWorkflow.run, id=unique, task_queue=unique)
        assert await handle.result() == "CancelledError"
    assert "ChildWorkflowExecutionCanceled" in await event_names(handle)
    child = client.get_workflow_handle(f"{unique}-child")
    assert (await child.describe()).status == WorkflowExecutionStatus.CANCELED


async def test_a_child_cannot_take_an_id_that_is_open(client, unique):
    async with worker(client, unique):
        taken = f"{unique}-taken"
        holder = await client.start_workflow(WaitingChildWorkflow.run, id=taken, task_queue=unique)
        handle = await client.start_workflow(ParentOfRivalWorkflow.run, taken, id=unique, task_queue=unique)
        assert await handle.result() == "already started: True"
        await holder.terminate()
    assert "StartChildWorkflowExecutionFailed" in await event_names(handle)


@pytest.mark.parametrize(
    "policy,status",
    [
        (ParentClosePolicy.TERMINATE, WorkflowExecutionStatus.TERMINATED),
        (ParentClosePolicy.REQUEST_CANCEL, WorkflowExecutionStatus.CANCELED),
        (ParentClosePolicy.ABANDON, WorkflowExecutionStatus.COMPLETED),
    ],
    ids=lambda value: value.name.lower(),
)
async def test_the_parent_close_policy_decides_about_an_open_child(client, unique, policy, status):
    async with worker(client, unique):
        child_id = await client.execute_workflow(
            ParentThatClosesWorkflow.run, int(policy), id=unique, task_queue=unique
        )
        child = client.get_workflow_handle(child_id)

        async def is_closed() -> bool:
            return (await child.describe()).status == status

        if policy == ParentClosePolicy.ABANDON:
            await child.signal(WaitingChildWorkflow.release)
        await eventually(is_closed)


async def test_terminating_a_parent_terminates_its_child(client, unique):
    async with worker(client, unique):
        handle = await client.start_workflow(ParentThatWaitsWorkflow.run, id=unique, task_queue=unique)
        child = client.get_workflow_handle(f"{unique}-child")

        async def has_child() -> bool:
            return "ChildWorkflowExecutionStarted" in await event_names(handle)

        await eventually(has_child)
        await handle.terminate()
        with pytest.raises(WorkflowFailureError) as caught:
            await child.result()
    assert isinstance(caught.value.cause, TerminatedError)


async def test_a_parent_signals_its_child_and_strangers(client, unique):
    async with worker(client, unique):
        stranger = await client.start_workflow(
            WaitingChildWorkflow.run, id=f"{unique}-stranger", task_queue=unique
        )
        handle = await client.start_workflow(
            SignallingParentWorkflow.run, f"{unique}-stranger", id=unique, task_queue=unique
        )
        assert await handle.result() == "released"
        assert await stranger.result() == "released"
