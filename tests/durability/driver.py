"""Starts the server, loads it, kills it at a random moment, and again; then lets all end and reads back what is there.

What does not live here: the load (session.py) and the verdict (checker.py).
A newcomer's mistake: to stop the server gracefully before reading. The last reading, too, follows a kill.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from perdure.demo.server import free_port
from tests.benchmarks.servers import Server, ServerFailed, ServerKind
from tests.durability.api import Api
from tests.durability.clients import NAMESPACE
from tests.durability.evidence import Evidence, collect
from tests.durability.session import Session
from tests.durability.world import World

LOAD_SECONDS = (0.05, 0.4)
# Some lives end before the server is ready: recovery must survive a kill, too.
SHARE_KILLED_EARLY = 0.08
EARLY_SECONDS_MAX = 0.5
DRAIN_SECONDS_MAX = 90.0


@dataclass(frozen=True)
class Trial:
    """What to do: so many kills of one kind of server on one database file."""

    kind: ServerKind
    directory: Path
    seed: int
    kills: int
    slots: int
    progress: Callable[[str], None]
    # The shortest and the longest time under load before a kill.
    load_seconds: tuple[float, float] = LOAD_SECONDS


async def endure(trial: Trial) -> Evidence:
    """Run a trial to its end and return the evidence."""
    world = World.create(trial.seed, trial.slots)
    port = free_port()
    while world.ledger.kills < trial.kills:
        await _one_life(trial, world, port)
        if world.ledger.kills % 10 == 0:
            requests = world.ledger.acknowledged_requests()
            trial.progress(f"{world.ledger.kills} of {trial.kills} kills, {requests} requests acknowledged")
    await _drain(trial, world, port)
    server = await _start(trial, port)
    try:
        await asyncio.to_thread(server.wait_ready, namespace=NAMESPACE)
        async with aclosing(Api(server.address)) as api:
            return await collect(api, world.ledger)
    finally:
        server.kill()


async def _start(trial: Trial, port: int) -> Server:
    log, database = trial.directory / "server.log", trial.directory / "durable.db"
    return await asyncio.to_thread(Server.start, trial.kind, log, port=port, database=database)


async def _one_life(trial: Trial, world: World, port: int) -> None:
    """Start the server, load it for a moment, kill it."""
    server = await _start(trial, port)
    try:
        if world.chance.random() < SHARE_KILLED_EARLY:
            await asyncio.sleep(world.chance.uniform(0, EARLY_SECONDS_MAX))
            _check_alive(server)
            return
        await asyncio.to_thread(server.wait_ready, namespace=NAMESPACE)
        session = Session(world, server.address)
        try:
            await asyncio.sleep(world.chance.uniform(*trial.load_seconds))
            _check_alive(server)
        finally:
            session.expect_the_end()
            server.kill()
            await session.close()
    finally:
        server.kill()
        world.ledger.kills += 1


async def _drain(trial: Trial, world: World, port: int) -> None:
    """Let every workflow end, then kill the server once more."""
    world.draining = True
    server = await _start(trial, port)
    try:
        await asyncio.to_thread(server.wait_ready, namespace=NAMESPACE)
        session = Session(world, server.address)
        try:
            await asyncio.wait_for(session.drained(), DRAIN_SECONDS_MAX)
        except TimeoutError:
            left = [slot.workflow_id for slot in world.slots.values() if not slot.closed]
            world.ledger.surprises.append(f"not closed within {DRAIN_SECONDS_MAX} s: {left}")
        finally:
            session.expect_the_end()
            server.kill()
            await session.close()
    finally:
        server.kill()


def _check_alive(server: Server) -> None:
    """Raise when the server ended before it was killed."""
    if server.process.poll() is not None:
        raise ServerFailed(f"the server ended by itself:\n{server.log_tail()}")
