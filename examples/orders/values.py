"""The values that the workflows, the activities and the client of the orders exchange.

The one thing a newcomer gets wrong: what crosses a workflow's border is serialized and kept for as long as
its history, so it is plain data with defaults for what may be added later, never an object with behaviour.
"""

from dataclasses import dataclass
from enum import StrEnum

TASK_QUEUE = "example-orders"


class Status(StrEnum):
    """Where an order stands."""

    RESERVING = "reserving"
    AWAITING_APPROVAL = "awaiting approval"
    CHARGING = "charging"
    PACKING = "packing"
    SHIPPING = "shipping"
    DELIVERED = "delivered"
    DECLINED = "declined"


@dataclass(frozen=True)
class Order:
    """What a customer wants. Times are plain seconds, for JSON, the default encoding, has none of its own."""

    order_id: str
    item: str
    amount_cents: int
    approval_seconds_max: float = 2 * 24 * 3600
    packing_seconds: float = 5


@dataclass(frozen=True)
class Approval:
    """Who looked at the order, and what they said."""

    by: str
    agreed: bool = True


@dataclass(frozen=True)
class Parcel:
    """A packed order on its way."""

    order_id: str
    item: str


@dataclass(frozen=True)
class Outcome:
    """How an order ended: with a parcel's number, or with the reason why there is none."""

    status: Status
    tracking: str | None = None
    reason: str | None = None
