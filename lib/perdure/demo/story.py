"""The demo's course: start, run, kill, restart, finish, compare.

Each act is one function that waits for a condition, never for a length of time, and says what it saw. What the
acts found out is judged in `survival`; how a history reads is `perdure.timeline`'s.

The one thing a newcomer gets wrong: the worker is not restarted. It stands for another program than the server,
outlives it, and finds it again by itself, as a fleet of workers would.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeAlias

from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowHandle
from temporalio.runtime import Runtime
from temporalio.service import RPCError
from temporalio.worker import Worker

from perdure.demo.server import ServerProcess
from perdure.demo.survival import Finding, findings
from perdure.demo.workflows import (
    TASK_QUEUE,
    Attempt,
    Delivery,
    Order,
    OrderActivities,
    OrderWorkflow,
    ShippingWorkflow,
)
from perdure.timeline import Mark, render

STEP_SECONDS_MAX = 20.0
_CHECK_SECONDS = 0.1
_HEALTH_TIMEOUT = timedelta(seconds=2)
_ORDER = Order("order-1042", "lamp", 4950)
_APPROVED = "waiting for approval"

_Handle: TypeAlias = WorkflowHandle[OrderWorkflow, Delivery]


class DemoFailedError(Exception):
    """The story did not go on; the message says at which point."""


@dataclass
class Progress:
    """Prints what happens as it happens, with the seconds since the beginning."""

    began: float = field(default_factory=time.monotonic)

    def say(self, text: str) -> None:
        """One line, at once."""
        print(f"[{time.monotonic() - self.began:5.1f} s] {text}", flush=True)


@dataclass(frozen=True)
class Outcome:
    """What the demo has to show in the end."""

    timeline: list[str]
    findings: list[Finding]


async def tell(server: ServerProcess, address: str, runtime: Runtime, progress: Progress) -> Outcome:
    """Run the order against the server at this address, kill the server in the middle, and let the order finish."""
    seconds = await asyncio.to_thread(server.start)
    progress.say(f"server ready on {address} after {seconds:.2f} s (process {server.pid})")
    client = await Client.connect(address, runtime=runtime)
    attempts: list[Attempt] = []

    def observe(attempt: Attempt) -> None:
        attempts.append(attempt)
        how = "succeeds" if attempt.succeeded else "fails on purpose"
        progress.say(f"  worker: {attempt.activity}, attempt {attempt.number}, {how}")

    async with _worker(client, observe):
        progress.say(f"worker polls the task queue {TASK_QUEUE}")
        handle = await client.start_workflow(
            OrderWorkflow.run,
            _ORDER,
            id=_ORDER.order_id,
            task_queue=TASK_QUEUE,
            static_summary="one lamp, two lives",
        )
        progress.say(f"started {_ORDER.order_id}")
        before = await _until_in_the_middle(handle, progress)
        attempts_before = len(attempts)
        await _kill_and_restart(server, client, progress)
        await _until_finished(handle, progress)
        after = await _history(handle)
    mark = Mark(before[-1].event_id, "SIGKILL; the server starts again on the same file")
    return Outcome(render(after, [mark]), findings(before, after, attempts, attempts_before))


@asynccontextmanager
async def _worker(client: Client, observe: Callable[[Attempt], None]) -> AsyncIterator[None]:
    activities = OrderActivities(observe)
    async with Worker(
        client,
        task_queue=TASK_QUEUE,
        workflows=[OrderWorkflow, ShippingWorkflow],
        activities=[activities.reserve_stock, activities.charge_card, activities.book_courier],
    ):
        yield


async def _until_in_the_middle(handle: _Handle, progress: Progress) -> list[HistoryEvent]:
    """Approve the order, wait until a timer runs and the charge is between two attempts; return the history."""

    async def waits_for_approval() -> bool:
        return await handle.query(OrderWorkflow.status) == _APPROVED

    await _until(waits_for_approval, "the order to wait for its approval")
    progress.say(f'query status: "{_APPROVED}"')
    await handle.signal(OrderWorkflow.approve)
    progress.say("signal approve: acknowledged")
    await _until(lambda: _between_attempts(handle), "the charge to be retried while a timer runs")
    return await _history(handle)


async def _between_attempts(handle: _Handle) -> bool:
    """Whether two attempts of the charge have failed and the third is due, but not yet started."""
    description = await handle.describe()
    return any(
        pending.activity_type.name == "charge_card"
        and pending.attempt == 3
        and pending.state == PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
        for pending in description.raw_description.pending_activities
    )


async def _kill_and_restart(server: ServerProcess, client: Client, progress: Progress) -> None:
    pid = server.pid
    await asyncio.to_thread(server.kill)
    progress.say(f"SIGKILL to process {pid}: a timer runs and the third attempt of charge_card is due")
    try:
        await client.service_client.check_health(timeout=_HEALTH_TIMEOUT)
    except RPCError as error:
        progress.say(f"the server is gone: {error.status.name}")
    else:
        raise DemoFailedError("the server still answers after SIGKILL")
    seconds = await asyncio.to_thread(server.start)
    progress.say(f"server ready again after {seconds:.2f} s (process {server.pid}), on the same file")


async def _until_finished(handle: _Handle, progress: Progress) -> None:
    progress.say(f'query status: "{await handle.query(OrderWorkflow.status)}"')
    try:
        async with asyncio.timeout(STEP_SECONDS_MAX):
            delivery = await handle.result()
    except TimeoutError as error:
        raise DemoFailedError(
            f"the order did not finish within {STEP_SECONDS_MAX:.0f} s of the restart"
        ) from error
    if delivery.order_id != _ORDER.order_id:
        raise DemoFailedError(f"the order's result is another order's: {delivery}")
    progress.say(f"order delivered: {delivery.receipt}, {delivery.tracking}")
    progress.say(f'query status of the closed run: "{await handle.query(OrderWorkflow.status)}"')


async def _history(handle: _Handle) -> list[HistoryEvent]:
    history = await handle.fetch_history()
    return list(history.events)


async def _until(condition: Callable[[], Awaitable[bool]], what: str) -> None:
    try:
        async with asyncio.timeout(STEP_SECONDS_MAX):
            while not await condition():  # noqa: ASYNC110 - the state is the server's; no event tells of it
                await asyncio.sleep(_CHECK_SECONDS)
    except TimeoutError as error:
        raise DemoFailedError(f"waited {STEP_SECONDS_MAX:.0f} s in vain for {what}") from error
