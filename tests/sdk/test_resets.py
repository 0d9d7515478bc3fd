"""Workflows of the SDK go on after a reset, and are gone after a deletion."""

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest, ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker

from tests.sdk.samples.orders import OrderWorkflow, ParcelWorkflow, charge
from tests.sdk.waiting import event_names, events, eventually

pytestmark = pytest.mark.asyncio


def worker(client: Client, task_queue: str) -> Worker:
    return Worker(
        client, task_queue=task_queue, workflows=[OrderWorkflow, ParcelWorkflow], activities=[charge]
    )


async def order(client: Client, unique: str, parcel_id: str = "") -> WorkflowHandle:
    return await client.start_workflow(OrderWorkflow.run, parcel_id, id=unique, task_queue=unique)


async def reset(client: Client, handle: WorkflowHandle, event_id: int) -> WorkflowHandle:
    request = ResetWorkflowExecutionRequest(
        namespace=client.namespace,
        workflow_execution=WorkflowExecution(workflow_id=handle.id, run_id=handle.run_id or ""),
        workflow_task_finish_event_id=event_id,
        reason="try again",
        request_id=f"{handle.id}-{event_id}",
    )
    reply = await client.workflow_service.reset_workflow_execution(request)
    return client.get_workflow_handle(handle.id, run_id=reply.run_id)


async def completed_tasks(handle: WorkflowHandle) -> list[int]:
    kind = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    return [event.event_id for event in await events(handle) if event.event_type == kind]


async def test_an_open_order_is_reset_to_its_first_task_and_hears_again_what_it_was_told(client, unique):
    async with worker(client, unique):
        handle = await order(client, unique)
        assert await handle.execute_update(OrderWorkflow.add, "tea") == 1
        await handle.signal(OrderWorkflow.note, "in a hurry")
        assert await handle.execute_update(OrderWorkflow.add, "milk") == 2
        (first, *_) = await completed_tasks(handle)
        again = await reset(client, handle, first)
        await again.signal(OrderWorkflow.close)
        assert await again.result() == ["charged 3", "milk", "tea", "in a hurry"]
    old = await client.get_workflow_handle(unique, run_id=handle.first_execution_run_id).describe()
    assert old.status == WorkflowExecutionStatus.TERMINATED
    assert (await event_names(again)).count("WorkflowExecutionUpdateAdmitted") == 2


async def test_a_closed_order_is_reset_to_its_last_task(client, unique):
    async with worker(client, unique):
        handle = await order(client, unique)
        await handle.signal(OrderWorkflow.note, "one")
        await handle.signal(OrderWorkflow.close)
        assert await handle.result() == ["charged 3", "one"]
        *_, last = await completed_tasks(handle)
        again = await reset(client, handle, last)
        assert await again.result() == ["charged 3", "one"]


async def test_a_child_goes_on_while_its_parent_is_reset(client, unique):
    parcel_id = f"{unique}-parcel"
    async with worker(client, unique):
        handle = await order(client, unique, parcel_id)

        async def waits() -> bool:
            return "ChildWorkflowExecutionStarted" in await event_names(handle) and (
                (await completed_tasks(handle))[-1] > 12
            )

        await eventually(waits)
        *_, last = await completed_tasks(handle)
        again = await reset(client, handle, last)
        await client.get_workflow_handle(parcel_id).signal(ParcelWorkflow.deliver)
        await again.signal(OrderWorkflow.close)
        assert await again.result() == ["charged 3", "delivered"]


async def test_many_resets_share_one_history(client, unique):
    async with worker(client, unique):
        handle = await order(client, unique)
        await handle.signal(OrderWorkflow.note, "kept")
        await handle.execute_update(OrderWorkflow.add, "tea")
        current = handle
        for _ in range(5):
            (first, *_) = await completed_tasks(current)
            current = await reset(client, current, first)
            await _some_task(current)
        await current.signal(OrderWorkflow.close)
        assert await current.result() == ["charged 3", "tea", "kept"]


async def _some_task(handle: WorkflowHandle) -> None:
    """Wait until the run has completed a task."""

    async def done() -> bool:
        return bool(await completed_tasks(handle))

    await eventually(done)


async def test_a_deleted_order_is_gone(client, unique):
    async with worker(client, unique):
        handle = await order(client, unique)
        await handle.execute_update(OrderWorkflow.add, "tea")
        execution = WorkflowExecution(workflow_id=unique)
        request = DeleteWorkflowExecutionRequest(namespace=client.namespace, workflow_execution=execution)
        await client.workflow_service.delete_workflow_execution(request)

        async def gone() -> bool:
            try:
                await handle.describe()
            except RPCError as error:
                return error.status == RPCStatusCode.NOT_FOUND
            return False

        await eventually(gone)
        anew = await order(client, unique)
        await anew.signal(OrderWorkflow.close)
        assert await anew.result() == ["charged 3"]
