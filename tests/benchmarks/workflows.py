"""The workflows that are measured, written as a user would write them; the same code runs against both servers.

What does not live here: the process that hosts them (worker.py) and the load (load.py).
A newcomer's mistake: to make an activity do something. It returns at once, so that the server's share is what remains.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import activity, workflow

ACTIVITY_TIMEOUT = timedelta(seconds=60)


@activity.defn
async def greet(name: str) -> str:
    """Return a greeting."""
    return f"Hello, {name}!"


@workflow.defn
class Hello:
    """One activity."""

    @workflow.run
    async def run(self, name: str) -> str:
        return await workflow.execute_activity(greet, name, start_to_close_timeout=ACTIVITY_TIMEOUT)


@workflow.defn
class Wide:
    """Many activities in parallel; returns how many ended."""

    @workflow.run
    async def run(self, activities: int) -> int:
        pending = [
            workflow.execute_activity(greet, str(number), start_to_close_timeout=ACTIVITY_TIMEOUT)
            for number in range(activities)
        ]
        return len(await asyncio.gather(*pending))


@workflow.defn
class Long:
    """Timers of 10 ms in sequence, continued as new after each ``per_run`` of them."""

    @workflow.run
    async def run(self, remaining: int, per_run: int) -> int:
        for _ in range(min(remaining, per_run)):
            await asyncio.sleep(0.010)
        if remaining > per_run:
            workflow.continue_as_new(args=[remaining - per_run, per_run])
        return remaining
