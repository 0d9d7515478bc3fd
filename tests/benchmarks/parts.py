"""The parts of the benchmark: what each runs on a server, and which samples it takes.

What does not live here: how a load is run and counted (bench.py), and which number of many is shown (metrics.py).
A newcomer's mistake: to measure one server to the end and then the other. Here they take turns, round by round, so
that whatever else the machine does hits both.
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from tests.benchmarks.bench import Bench, running, seconds_to_ready
from tests.benchmarks.load import Load
from tests.benchmarks.metrics import Samples, Series
from tests.benchmarks.servers import MEBIBYTE, ServerKind


@dataclass(frozen=True)
class Sizes:
    """How much each part runs in one round."""

    hello: int = 400
    at_once: int = 50
    latency: int = 60
    wide: int = 8
    wide_activities: int = 100
    long: int = 1
    long_timers: int = 1_000
    long_timers_per_run: int = 200
    memory: int = 10_000
    ready: int = 5
    idle_seconds: float = 5.0


class Part(enum.Enum):
    """What can be chosen on the command line."""

    READY = "ready"
    HELLO = "hello"
    LATENCY = "latency"
    WIDE = "wide"
    LONG = "long"
    IDLE = "idle"
    MEMORY = "memory"


@dataclass(frozen=True)
class Plan:
    """What is measured on one kind of storage."""

    parts: frozenset[Part]
    kinds: tuple[ServerKind, ...]
    sizes: Sizes
    rounds: int
    on_file: bool
    sandbox: bool
    progress: Callable[[str], None]


async def run_plan(plan: Plan) -> Samples:
    """Measure everything in the plan, the servers in turns, and return the samples."""
    samples = Samples()
    if Part.READY in plan.parts:
        await _measure_ready(plan, samples)
    steps = [part for part in _STEPS if part in plan.parts]
    if not steps:
        return samples
    async with AsyncExitStack() as stack:
        benches: list[Bench] = []
        for kind in plan.kinds:
            started = running(kind, on_file=plan.on_file, sandbox=plan.sandbox)
            benches.append(await stack.enter_async_context(started))
        for bench in benches:
            await _warm_up(bench, plan.sizes)
        for part in steps:
            await _measure(part, benches, plan, samples)
    return samples


async def _measure(part: Part, benches: Sequence[Bench], plan: Plan, samples: Samples) -> None:
    """Measure one part on every server, in turns or, where the servers mostly wait, at the same time."""
    rounds = 1 if part in _ONCE else plan.rounds

    async def one(bench: Bench, number: int) -> None:
        shown = await _STEPS[part](bench, plan.sizes, samples)
        plan.progress(f"{part.value:8} round {number}/{rounds}  {bench.server.kind.value:9} {shown}")

    for number in range(1, rounds + 1):
        if part in _TOGETHER:
            await asyncio.gather(*(one(bench, number) for bench in benches))
        else:
            for bench in benches:
                await one(bench, number)


async def _measure_ready(plan: Plan, samples: Samples) -> None:
    for number in range(1, plan.sizes.ready + 1):
        for kind in plan.kinds:
            seconds = await asyncio.to_thread(seconds_to_ready, kind, on_file=plan.on_file)
            samples.add(Series.READY, kind, seconds)
            plan.progress(f"{'ready':8} round {number}/{plan.sizes.ready}  {kind.value:9} {seconds:.2f} s")


async def _warm_up(bench: Bench, sizes: Sizes) -> None:
    await bench.measure(Load("Hello", ["warm"], 2 * sizes.at_once, sizes.at_once))
    await bench.measure(Load("Wide", [sizes.wide_activities], 1, 1))


async def _hello(bench: Bench, sizes: Sizes, samples: Samples) -> str:
    found = await bench.measure(Load("Hello", ["world"], sizes.hello, sizes.at_once))
    kind, count, seconds = bench.server.kind, sizes.hello, found.timing.seconds
    samples.add(Series.HELLO_CPU, kind, found.server_cpu_seconds * 1000 / count)
    samples.add(Series.HELLO_WORKER_CPU, kind, found.worker_cpu_seconds * 1000 / count)
    samples.add(Series.HELLO_RATE, kind, count / seconds)
    samples.add(Series.HELLO_SERVER_SHARE, kind, found.server_cpu_seconds / seconds)
    samples.add(Series.HELLO_WORKER_SHARE, kind, found.worker_cpu_seconds / seconds)
    return f"{count / seconds:.1f}/s, server {found.server_cpu_seconds * 1000 / count:.1f} ms each"


async def _latency(bench: Bench, sizes: Sizes, samples: Samples) -> str:
    found = await bench.measure(Load("Hello", ["world"], sizes.latency, 1))
    milliseconds = sorted(seconds * 1000 for seconds in found.timing.latencies)
    samples.add(Series.LATENCY, bench.server.kind, *milliseconds)
    return f"{milliseconds[len(milliseconds) // 2]:.1f} ms"


async def _wide(bench: Bench, sizes: Sizes, samples: Samples) -> str:
    found = await bench.measure(Load("Wide", [sizes.wide_activities], sizes.wide, 1))
    kind, count = bench.server.kind, sizes.wide
    samples.add(Series.WIDE_CPU, kind, found.server_cpu_seconds * 1000 / count)
    samples.add(Series.WIDE_WORKER_CPU, kind, found.worker_cpu_seconds * 1000 / count)
    samples.add(Series.WIDE_LATENCY, kind, *(seconds * 1000 for seconds in found.timing.latencies))
    return f"{found.timing.seconds * 1000 / count:.0f} ms, server {found.server_cpu_seconds * 1000 / count:.0f} ms each"


async def _long(bench: Bench, sizes: Sizes, samples: Samples) -> str:
    arguments = [sizes.long_timers, sizes.long_timers_per_run]
    found = await bench.measure(Load("Long", arguments, sizes.long, 1))
    kind, count = bench.server.kind, sizes.long
    samples.add(Series.LONG_CPU, kind, found.server_cpu_seconds * 1000 / count)
    samples.add(Series.LONG_WORKER_CPU, kind, found.worker_cpu_seconds * 1000 / count)
    samples.add(Series.LONG_LATENCY, kind, *found.timing.latencies)
    return (
        f"{found.timing.seconds / count:.1f} s, server {found.server_cpu_seconds * 1000 / count:.0f} ms each"
    )


async def _idle(bench: Bench, sizes: Sizes, samples: Samples) -> str:
    share = await bench.idle_cpu(sizes.idle_seconds)
    samples.add(Series.IDLE_SHARE, bench.server.kind, share * 100)
    return f"{share * 100:.2f} % of a core"


async def _memory(bench: Bench, sizes: Sizes, samples: Samples) -> str:
    found = await bench.measure(Load("Hello", ["world"], sizes.memory, sizes.at_once))
    samples.add(Series.MEMORY, bench.server.kind, found.resident_bytes / MEBIBYTE)
    return f"{found.resident_bytes / MEBIBYTE:.0f} MiB after {sizes.memory} more hello workflows"


_STEPS: Mapping[Part, Callable[[Bench, Sizes, Samples], Awaitable[str]]] = {
    Part.HELLO: _hello,
    Part.LATENCY: _latency,
    Part.WIDE: _wide,
    Part.LONG: _long,
    Part.IDLE: _idle,
    Part.MEMORY: _memory,
}

# The reference server fires a timer up to a second late, so a thousand of them take a quarter of an hour of waiting.
_TOGETHER = frozenset({Part.LONG, Part.IDLE})
_ONCE = frozenset({Part.LONG, Part.IDLE, Part.MEMORY})
