"""The order from the reservation to the parcel, and the shipping as a child of its own.

A workflow decides; it does nothing itself. Whatever touches the outside is an activity, and time, randomness
and waiting come from `temporalio.workflow`, so that a replay decides the same again.

The one thing a newcomer gets wrong: there is no code here for crashes. When a worker dies, another one
replays the history up to the last event and goes on in the middle of `run`.
"""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from examples.orders.activities import OrderActivities
    from examples.orders.values import Approval, Order, Outcome, Parcel, Status

ONE_CALL = timedelta(seconds=10)
# From a quarter of a second to a minute between attempts, for as long as it takes; the activity's own
# `non_retryable` errors end it earlier.
PATIENT = RetryPolicy(
    initial_interval=timedelta(milliseconds=250),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(minutes=1),
)


@workflow.defn
class ShippingWorkflow:
    """Ships one parcel. It is a workflow of its own, so that it can be looked at, and retried, by itself."""

    @workflow.run
    async def run(self, parcel: Parcel) -> str:
        """Return the parcel's tracking number."""
        return await workflow.execute_activity_method(
            OrderActivities.book_courier, parcel, start_to_close_timeout=ONE_CALL, retry_policy=PATIENT
        )


@workflow.defn
class OrderWorkflow:
    """Takes one order through. Its workflow ID is the order's ID, so an order cannot run twice at once."""

    def __init__(self) -> None:
        self._status = Status.RESERVING
        self._approval: Approval | None = None

    @workflow.run
    async def run(self, order: Order) -> Outcome:
        """Reserve, ask for approval, charge, pack, ship; release the stock again when it does not come to that."""
        await workflow.execute_activity_method(
            OrderActivities.reserve_stock, order, start_to_close_timeout=ONE_CALL, retry_policy=PATIENT
        )
        refusal = await self._ask_for_approval(order) or await self._charge(order)
        if refusal is not None:
            return await self._give_up(order, refusal)
        self._status = Status.PACKING
        await workflow.sleep(order.packing_seconds, summary="packing")
        self._status = Status.SHIPPING
        tracking = await workflow.execute_child_workflow(
            ShippingWorkflow.run, Parcel(order.order_id, order.item), id=f"{order.order_id}-shipping"
        )
        self._status = Status.DELIVERED
        return Outcome(Status.DELIVERED, tracking=tracking)

    @workflow.signal
    def approve(self, approval: Approval) -> None:
        """Somebody has decided about the order; the first word counts."""
        self._approval = self._approval or approval

    @workflow.query
    def status(self) -> Status:
        """Where the order stands now. A query only looks; it changes nothing and leaves no event."""
        return self._status

    async def _ask_for_approval(self, order: Order) -> str | None:
        """Wait for the signal, but not for ever; return why the order cannot go on."""
        self._status = Status.AWAITING_APPROVAL
        try:
            await workflow.wait_condition(
                lambda: self._approval is not None, timeout=order.approval_seconds_max
            )
        except TimeoutError:
            return "nobody approved it in time"
        assert self._approval is not None
        return None if self._approval.agreed else f"{self._approval.by} did not agree"

    async def _charge(self, order: Order) -> str | None:
        """Take the money; return why that cannot be done."""
        self._status = Status.CHARGING
        try:
            await workflow.execute_activity_method(
                OrderActivities.charge_card, order, start_to_close_timeout=ONE_CALL, retry_policy=PATIENT
            )
        except ActivityError as error:
            if isinstance(error.cause, ApplicationError) and error.cause.type == "CardDeclined":
                return f"the card was declined: {error.cause.message}"
            raise
        return None

    async def _give_up(self, order: Order, reason: str) -> Outcome:
        """Undo what was done so far, then say why."""
        await workflow.execute_activity_method(
            OrderActivities.release_stock, order, start_to_close_timeout=ONE_CALL, retry_policy=PATIENT
        )
        self._status = Status.DECLINED
        return Outcome(Status.DECLINED, reason=reason)
