"""What an order does to the outside: the warehouse, the bank, the courier.

Activities may do anything; the services below stand for real ones and fail now and then, as those do. A
worker gives them to the activities, so that a test can give others.

The one thing a newcomer gets wrong: an activity runs at least once, not exactly once. Its worker may die
after the bank was charged and before the server learned of it. So every call carries a key that is the same
for all attempts, and the service answers a repeated key with what it answered before.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from temporalio import activity
from temporalio.exceptions import ApplicationError

from examples.orders.values import Order, Parcel


class ServiceUnavailableError(Exception):
    """The service did not answer; the same call may work in a moment."""


class CardDeclinedError(Exception):
    """The bank said no; asking again will not change that."""


@dataclass
class FlakyService:
    """A service of somebody else's: it fails its first calls and remembers what it answered to which key."""

    name: str
    failures: int = 0
    answers: dict[str, str] = field(default_factory=dict)

    def call(self, key: str, work: Callable[[], str]) -> str:
        """Do the work once for this key, or fail."""
        if key in self.answers:
            return self.answers[key]
        if self.failures > 0:
            self.failures -= 1
            raise ServiceUnavailableError(f"the {self.name} does not answer")
        return self.answers.setdefault(key, work())


@dataclass
class OrderActivities:
    """The activities of an order, with the services that they call."""

    warehouse: FlakyService = field(default_factory=lambda: FlakyService("warehouse", failures=1))
    bank: FlakyService = field(default_factory=lambda: FlakyService("bank", failures=2))
    courier: FlakyService = field(default_factory=lambda: FlakyService("courier", failures=1))
    cards_declined_over_cents: int = 1_000_000

    @activity.defn
    async def reserve_stock(self, order: Order) -> str:
        """Set the item aside and return where."""
        return self.warehouse.call(idempotency_key(), lambda: f"shelf of {order.item}")

    @activity.defn
    async def release_stock(self, order: Order) -> None:
        """Undo a reservation; releasing what was never reserved does nothing."""
        self.warehouse.call(idempotency_key(), lambda: f"released {order.item}")

    @activity.defn
    async def charge_card(self, order: Order) -> str:
        """Take the money and return the receipt's number."""

        def charge() -> str:
            if order.amount_cents > self.cards_declined_over_cents:
                raise CardDeclinedError(f"{order.amount_cents} cents are too many")
            return f"receipt-{order.order_id}"

        try:
            return self.bank.call(idempotency_key(), charge)
        except CardDeclinedError as error:
            # Of all failures this is the one that no retry can mend, and the activity is who knows that.
            raise ApplicationError(str(error), type="CardDeclined", non_retryable=True) from error

    @activity.defn
    async def book_courier(self, parcel: Parcel) -> str:
        """Hand the parcel over and return its tracking number."""
        return self.courier.call(idempotency_key(), lambda: f"tracking-{parcel.order_id}")


def idempotency_key() -> str:
    """The same for all attempts of one activity, different for any two activities."""
    info = activity.info()
    return f"{info.workflow_run_id}:{info.activity_id}"
