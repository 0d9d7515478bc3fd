"""The demo's order: two workflows and their activities, written as any worker's author would write them.

What lives here is worker code alone. It knows nothing of servers, kills or reports; those are in `story`. Longer
examples to learn from are in the repository's `examples/`.

The one thing a newcomer gets wrong: the activities below fail on purpose, and the workflows contain no line for
it. The retry policy is the whole of the error handling, and the server, not the worker, waits between attempts.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError

TASK_QUEUE = "orders"
PACKING_TIME = timedelta(seconds=6)
APPROVAL_DEADLINE = timedelta(hours=1)
# One second, then three: long enough for the server to die and come back while the third attempt of the charge is due.
RETRIES = RetryPolicy(initial_interval=timedelta(seconds=1), backoff_coefficient=3.0)
ATTEMPTS_NEEDED = {"reserve_stock": 2, "charge_card": 3, "book_courier": 2}


@dataclass(frozen=True)
class Order:
    """What the customer asked for. Amounts are in cents."""

    order_id: str
    item: str
    amount_cents: int


@dataclass(frozen=True)
class Delivery:
    """What the customer gets in the end."""

    order_id: str
    receipt: str
    tracking: str


@dataclass(frozen=True)
class Attempt:
    """One attempt of an activity, as its worker saw it."""

    activity: str
    number: int
    succeeded: bool


class OrderActivities:
    """The outside world of the order. It reports every attempt to `observe`, so that the demo can count them."""

    def __init__(self, observe: Callable[[Attempt], None]) -> None:
        self._observe = observe

    @activity.defn
    async def reserve_stock(self, order: Order) -> str:
        """Set the item aside; the warehouse does not answer the first time."""
        self._work("the warehouse does not answer")
        return f"shelf-{order.item}"

    @activity.defn
    async def charge_card(self, order: Order) -> str:
        """Take the money; the bank declines to answer twice."""
        self._work("the bank times out")
        return f"receipt-{order.order_id}-{order.amount_cents}"

    @activity.defn
    async def book_courier(self, order_id: str) -> str:
        """Book the parcel's way; the courier is busy the first time."""
        self._work("the courier is busy")
        return f"parcel-{order_id}"

    def _work(self, trouble: str) -> None:
        info = activity.info()
        succeeded = info.attempt >= ATTEMPTS_NEEDED[info.activity_type]
        self._observe(Attempt(info.activity_type, info.attempt, succeeded))
        if not succeeded:
            raise ApplicationError(trouble)


@workflow.defn
class ShippingWorkflow:
    """The child: it ships one order and answers with the parcel's number."""

    @workflow.run
    async def run(self, order_id: str) -> str:
        """Book a courier, however often that takes."""
        return await workflow.execute_activity_method(
            OrderActivities.book_courier,
            order_id,
            start_to_close_timeout=timedelta(seconds=10),
            retry_policy=RETRIES,
        )


@workflow.defn
class OrderWorkflow:
    """The order, from the shelf to the door."""

    def __init__(self) -> None:
        self._approved = False
        self._status = "new"

    @workflow.run
    async def run(self, order: Order) -> Delivery:
        """Reserve, wait for the approval, charge while packing, ship."""
        self._status = "reserving stock"
        await workflow.execute_activity_method(
            OrderActivities.reserve_stock,
            order,
            start_to_close_timeout=timedelta(seconds=10),
            retry_policy=RETRIES,
        )
        self._status = "waiting for approval"
        await workflow.wait_condition(lambda: self._approved, timeout=APPROVAL_DEADLINE)
        self._status = "charging and packing"
        charge = workflow.execute_activity_method(
            OrderActivities.charge_card,
            order,
            start_to_close_timeout=timedelta(seconds=10),
            retry_policy=RETRIES,
        )
        receipt, _ = await asyncio.gather(charge, workflow.sleep(PACKING_TIME, summary="packing"))
        self._status = "shipping"
        tracking = await workflow.execute_child_workflow(
            ShippingWorkflow.run, order.order_id, id=f"{order.order_id}-shipping"
        )
        self._status = "delivered"
        return Delivery(order.order_id, receipt, tracking)

    @workflow.signal
    def approve(self) -> None:
        """A person has looked at the order and agrees."""
        self._approved = True

    @workflow.query
    def status(self) -> str:
        """Where the order stands, in words."""
        return self._status
