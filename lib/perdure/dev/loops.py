"""What runs without being called: the timers, the tasks of the history service, and the tidying of the database.

What does not live here: what a due wake-up or a task does (`durable_core` decides that).
A newcomer's trap: an earlier wake-up may be armed while we sleep towards a later one, hence `look` after every call.
"""

import asyncio
import logging
from typing import Protocol

from durable_core.model.ids import SERVICE_QUEUE
from durable_core.ports.clock import Clock
from durable_core.services.calls import NS_PER_SECOND
from perdure.dev.notifications import InProcessNotifications

# How long a sleep may be, so that a clock that was set costs this much at most.
SLEEP_SECONDS_MAX = 5.0
RETRY_SECONDS = 0.5
FLUSH_SECONDS = 1.0

log = logging.getLogger("perdure")


class Engine(Protocol):
    """What the loops ask of the system."""

    def fire_due(self) -> object:
        """Fire what is due now."""

    def next_due(self) -> int | None:
        """When the earliest armed wake-up is due, in ns since the epoch."""

    def run_service_task(self) -> bool:
        """Run the next task of the history service, if there is one."""

    def flush(self) -> None:
        """Remove from the database what is done with."""


class Loops:
    """The background loops of one embedded server. `start` them in its event loop; `stop` ends them.

    Nobody sees a loop end, so no defect ends one: it is logged, and the loop tries again.
    """

    def __init__(self, engine: Engine, notifications: InProcessNotifications, clock: Clock) -> None:
        self._engine = engine
        self._notifications = notifications
        self._clock = clock
        self._earlier = asyncio.Event()
        self._asleep_until = 0
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._timers(), name="timers"),
            asyncio.create_task(self._service_tasks(), name="service tasks"),
            asyncio.create_task(self._tidying(), name="tidying"),
        ]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def look(self) -> None:
        """Something was committed: wake the timers if they would sleep past a wake-up armed by it."""
        due = self._engine.next_due()
        if due is not None and due < self._asleep_until:
            self._earlier.set()

    async def _timers(self) -> None:
        while True:
            try:
                self._engine.fire_due()
                seconds = self._seconds_to_sleep()
            except Exception:
                log.exception("firing timers failed, trying again")
                seconds = RETRY_SECONDS
            await self._sleep(seconds)

    def _seconds_to_sleep(self) -> float:
        due = self._engine.next_due()
        if due is None:
            return SLEEP_SECONDS_MAX
        return min(max(0.0, (due - self._clock.now()) / NS_PER_SECOND), SLEEP_SECONDS_MAX)

    async def _sleep(self, seconds: float) -> None:
        if seconds <= 0:
            # Calls get their turn between two rounds of due timers.
            await asyncio.sleep(0)
            return
        self._earlier.clear()
        self._asleep_until = self._clock.now() + int(seconds * NS_PER_SECOND)
        alarm = asyncio.get_running_loop().call_later(seconds, self._earlier.set)
        try:
            await self._earlier.wait()
        finally:
            alarm.cancel()
            self._asleep_until = 0

    async def _service_tasks(self) -> None:
        while True:
            try:
                ran = self._engine.run_service_task()
            except Exception:
                log.exception("a service task failed, trying again")
                await asyncio.sleep(RETRY_SECONDS)
                continue
            if ran:
                self.look()
                await asyncio.sleep(0)
            else:
                await self._notifications.wait((SERVICE_QUEUE,), SLEEP_SECONDS_MAX)

    async def _tidying(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            try:
                self._engine.flush()
            except Exception:
                log.exception("tidying the database failed, trying again")
