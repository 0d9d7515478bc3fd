"""The client's side of the load: starts workflows, so many at a time, and waits for their results.

What does not live here: what the servers and the worker used meanwhile (parts.py).
A newcomer's mistake: to start everything at once and to call the waiting in line a latency.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass

from temporalio.client import Client

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Load:
    """So many executions of one workflow."""

    workflow: str
    arguments: Sequence[object]
    count: int
    at_once: int


@dataclass(frozen=True)
class Timing:
    """How long the whole load took, and each execution from its start call to its result, in seconds."""

    seconds: float
    latencies: tuple[float, ...]


async def run_load(client: Client, task_queue: str, load: Load) -> Timing:
    """Run a load to its end. An execution that fails raises, for what failed must not be counted as fast."""
    remaining = iter(range(load.count))
    latencies: list[float] = []

    async def one_lane() -> None:
        for _ in remaining:
            begun = time.perf_counter()
            await client.execute_workflow(
                load.workflow,
                args=load.arguments,
                id=f"{load.workflow.lower()}-{next(_numbers)}",
                task_queue=task_queue,
            )
            latencies.append(time.perf_counter() - begun)

    begun = time.perf_counter()
    async with asyncio.TaskGroup() as lanes:
        for _ in range(min(load.at_once, load.count)):
            lanes.create_task(one_lane())
    return Timing(time.perf_counter() - begun, tuple(latencies))
