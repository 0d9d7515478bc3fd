"""An order that can be reset: activities, a timer, signals, updates, a child."""

import asyncio
from datetime import timedelta

from temporalio import activity, workflow


@activity.defn
async def charge(amount: int) -> str:
    return f"charged {amount}"


@workflow.defn
class ParcelWorkflow:
    """Is delivered when it is told so."""

    def __init__(self) -> None:
        self._delivered = False

    @workflow.run
    async def run(self) -> str:
        await workflow.wait_condition(lambda: self._delivered)
        return "delivered"

    @workflow.signal
    def deliver(self) -> None:
        self._delivered = True


@workflow.defn
class OrderWorkflow:
    """Charges, takes notes and updates until it is closed, and tells everything in the end."""

    def __init__(self) -> None:
        self._notes: list[str] = []
        self._items: list[str] = []
        self._closed = False

    @workflow.run
    async def run(self, parcel_id: str) -> list[str]:
        charged = await workflow.execute_activity(charge, 3, start_to_close_timeout=timedelta(seconds=10))
        parcel = None
        if parcel_id:
            parcel = await workflow.start_child_workflow(ParcelWorkflow.run, id=parcel_id)
        await asyncio.sleep(0.01)
        await workflow.wait_condition(lambda: self._closed)
        delivery = [await parcel] if parcel is not None else []
        return [charged, *sorted(self._items), *self._notes, *delivery]

    @workflow.signal
    def note(self, text: str) -> None:
        self._notes.append(text)

    @workflow.signal
    def close(self) -> None:
        self._closed = True

    @workflow.update
    async def add(self, item: str) -> int:
        self._items.append(item)
        return len(self._items)
