"""The programs in `examples/` do what their README says."""

import pytest
from temporalio.client import WorkflowExecutionStatus

from examples.imports import file_import
from examples.orders import worker as orders
from examples.orders.activities import FlakyService, OrderActivities
from examples.orders.values import Approval, Order, Outcome, Status
from examples.orders.workflows import OrderWorkflow
from examples.subscriptions import subscription
from tests.sdk.waiting import eventually

pytestmark = pytest.mark.asyncio


def order(unique: str, **changes: object) -> Order:
    return Order(unique, "lamp", 4950, packing_seconds=0.05, **changes)


async def start_order(client, unique: str, wanted: Order):
    return await client.start_workflow(OrderWorkflow.run, wanted, id=unique, task_queue=unique)


async def test_an_approved_order_is_delivered_in_spite_of_flaky_services(client, unique):
    activities = OrderActivities()
    async with orders.make_worker(client, activities, unique):
        handle = await start_order(client, unique, order(unique))

        async def awaits_approval() -> bool:
            return await handle.query(OrderWorkflow.status) == Status.AWAITING_APPROVAL

        await eventually(awaits_approval)
        await handle.signal(OrderWorkflow.approve, Approval("ada"))
        assert await handle.result() == Outcome(Status.DELIVERED, tracking=f"tracking-{unique}")
    assert (activities.warehouse.failures, activities.bank.failures, activities.courier.failures) == (0, 0, 0)


@pytest.mark.parametrize(
    "changes,approval,reason",
    [
        ({}, Approval("bob", agreed=False), "bob did not agree"),
        ({"approval_seconds_max": 0.3}, None, "nobody approved it in time"),
        ({}, Approval("ada"), "the card was declined: 4950 cents are too many"),
    ],
    ids=["refused", "too late", "card declined"],
)
async def test_an_order_that_cannot_go_on_releases_its_stock(client, unique, changes, approval, reason):
    activities = OrderActivities(
        FlakyService("warehouse"), FlakyService("bank"), FlakyService("courier"), 100
    )
    async with orders.make_worker(client, activities, unique):
        handle = await start_order(client, unique, order(unique, **changes))
        if approval is not None:
            await handle.signal(OrderWorkflow.approve, approval)
        assert await handle.result() == Outcome(Status.DECLINED, reason=reason)
    assert list(activities.warehouse.answers.values()) == ["shelf of lamp", "released lamp"]


async def test_a_subscription_charges_on_over_several_runs_until_it_is_cancelled(client, unique):
    wanted = subscription.Subscription("ada", 900, 0.05, periods_per_run_max=2)
    async with subscription.make_worker(client, unique):
        first = await client.start_workflow(
            subscription.SubscriptionWorkflow.run, wanted, id=unique, task_queue=unique
        )
        handle = client.get_workflow_handle_for(subscription.SubscriptionWorkflow.run, unique)
        await handle.signal(subscription.SubscriptionWorkflow.change_amount, 1200)

        async def paid_five() -> bool:
            return (await handle.query(subscription.SubscriptionWorkflow.show)).periods_charged >= 5

        await eventually(paid_five)
        assert (await handle.query(subscription.SubscriptionWorkflow.show)).amount_cents == 1200
        await handle.signal(subscription.SubscriptionWorkflow.cancel)
        assert await handle.result() >= 5
    first_run = client.get_workflow_handle(unique, run_id=first.first_execution_run_id)
    assert (await first_run.describe()).status == WorkflowExecutionStatus.CONTINUED_AS_NEW


async def test_an_import_reads_its_file_to_the_end(client, unique, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("line\n" * 5)
    async with file_import.make_worker(client, unique):
        what = file_import.Import(str(path), lines_per_second=1000)
        done = await client.execute_workflow(
            file_import.ImportWorkflow.run, what, id=unique, task_queue=unique
        )
    assert done == file_import.Imported(5, complete=True)


async def test_a_cancelled_import_tells_how_far_it_came(client, unique, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("line\n" * 100_000)
    async with file_import.make_worker(client, unique):
        what = file_import.Import(str(path), lines_per_second=100)
        handle = await client.start_workflow(
            file_import.ImportWorkflow.run, what, id=unique, task_queue=unique
        )

        async def has_begun() -> bool:
            pending = (await handle.describe()).raw_description.pending_activities
            return bool(pending) and pending[0].HasField("heartbeat_details")

        await eventually(has_begun)
        await handle.cancel()
        imported = await handle.result()
    assert not imported.complete
    assert 0 < imported.lines < 100_000
