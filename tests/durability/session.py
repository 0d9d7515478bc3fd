"""One life of the server: all clients and workers that load it until it is killed or, at last, until all is closed.

What does not live here: what they do (clients.py, workers.py), and the killing (driver.py).
A newcomer's mistake: to cancel the loops at the kill. Their calls fail by themselves, and what arrived still counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

from tests.durability.api import Api
from tests.durability.clients import drive_slot
from tests.durability.link import Link
from tests.durability.workers import repeat, work_on_activities, work_on_workflows
from tests.durability.world import World

WORKFLOW_POLLERS = 8
ACTIVITY_POLLERS = 8
# How long the loops may take to notice that their server is gone before they are cancelled.
FAREWELL_SECONDS = 3.0


class Session:
    """The load on one life of the server."""

    def __init__(self, world: World, address: str) -> None:
        self._link = Link(world, Api(address), asyncio.Event())
        loops: list[Coroutine[None, None, None]] = [
            *(repeat(self._link, answer) for answer in world.take_outbox()),
            *(work_on_workflows(self._link) for _ in range(WORKFLOW_POLLERS)),
            *(work_on_activities(self._link) for _ in range(ACTIVITY_POLLERS)),
        ]
        self._workers = [asyncio.create_task(loop) for loop in loops]
        self._clients = [asyncio.create_task(drive_slot(self._link, slot)) for slot in world.slots.values()]

    def expect_the_end(self) -> None:
        """Say that the server is about to be killed, so that errors are no findings from here on."""
        self._link.ends.set()

    async def drained(self) -> None:
        """Wait until the clients have seen their last workflow closed."""
        await asyncio.gather(*self._clients)

    async def close(self) -> None:
        """Wait for the loops to notice the end, and raise what any of them raised."""
        self._link.ends.set()
        tasks = [*self._clients, *self._workers]
        await asyncio.wait(tasks, timeout=FAREWELL_SECONDS)
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        await self._link.api.aclose()
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, asyncio.CancelledError):
                raise result
