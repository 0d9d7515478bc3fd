"""What is reported: every row, how its number comes from the samples, and its budget.

What does not live here: how samples are taken (parts.py). The budgets are those of the design; change them there first.
A newcomer's mistake: to turn a budget into an assertion. A missed budget is printed as missed, and nothing fails.
"""

from __future__ import annotations

import enum
import statistics
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.benchmarks.servers import ServerKind


class Series(enum.Enum):
    """A kind of sample; each is taken several times from each server."""

    READY = "seconds from process start to the first answered call"
    HELLO_CPU = "server milliseconds of processor time per hello workflow"
    HELLO_WORKER_CPU = "worker milliseconds of processor time per hello workflow"
    HELLO_RATE = "hello workflows per second"
    HELLO_SERVER_SHARE = "share of a core that the server takes"
    HELLO_WORKER_SHARE = "share of a core that the worker takes"
    LATENCY = "milliseconds of one hello workflow alone"
    WIDE_CPU = "server milliseconds of processor time per wide workflow"
    WIDE_WORKER_CPU = "worker milliseconds of processor time per wide workflow"
    WIDE_LATENCY = "milliseconds of a wide workflow"
    LONG_CPU = "server milliseconds of processor time per long workflow"
    LONG_WORKER_CPU = "worker milliseconds of processor time per long workflow"
    LONG_LATENCY = "seconds of a long workflow"
    MEMORY = "resident mebibytes"
    IDLE_SHARE = "per cent of a core while nothing runs"


def percentile_95(values: Sequence[float]) -> float:
    """Return the value that 95 of 100 samples do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, -(-95 * len(ordered) // 100) - 1)]


@dataclass
class Samples:
    """All samples of one storage, by series and server."""

    values: dict[tuple[Series, ServerKind], list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, series: Series, kind: ServerKind, *values: float) -> None:
        self.values[series, kind].extend(values)

    def of(self, series: Series, kind: ServerKind) -> list[float]:
        return self.values.get((series, kind), [])


@dataclass(frozen=True)
class Budget:
    """A bound on our number, or on its ratio to the reference server's."""

    text: str
    is_met: Callable[[float], bool]
    on_ratio: bool


@dataclass(frozen=True)
class Metric:
    """One row of the table; the title is filled in with the sizes of the run."""

    title: str
    series: Series
    digits: int = 1
    statistic: Callable[[Sequence[float]], float] = statistics.median
    budget: Budget | None = None

    def value(self, samples: Samples, kind: ServerKind) -> float | None:
        found = samples.of(self.series, kind)
        return self.statistic(found) if found else None


METRICS = (
    Metric(
        "time to ready, s",
        Series.READY,
        2,
        budget=Budget("≤ 1 s", lambda seconds: seconds <= 1, on_ratio=False),
    ),
    Metric(
        "hello, {at_once} at once: server CPU, ms each",
        Series.HELLO_CPU,
        budget=Budget("≤ 1/5", lambda ratio: ratio <= 1 / 5, on_ratio=True),
    ),
    Metric(
        "hello, {at_once} at once: workflows per second",
        Series.HELLO_RATE,
        budget=Budget("≥ 2.2", lambda ratio: ratio >= 2.2, on_ratio=True),
    ),
    Metric("hello, {at_once} at once: worker CPU, ms each", Series.HELLO_WORKER_CPU),
    Metric("hello, {at_once} at once: server, cores in use", Series.HELLO_SERVER_SHARE, 2),
    Metric("hello, {at_once} at once: worker, cores in use", Series.HELLO_WORKER_SHARE, 2),
    Metric(
        "hello, one at a time: median, ms",
        Series.LATENCY,
        budget=Budget("≤ 1/4", lambda ratio: ratio <= 1 / 4, on_ratio=True),
    ),
    Metric("hello, one at a time: 95th percentile, ms", Series.LATENCY, statistic=percentile_95),
    Metric("wide, {wide_activities} activities: server CPU, ms each", Series.WIDE_CPU, 0),
    Metric("wide, {wide_activities} activities: worker CPU, ms each", Series.WIDE_WORKER_CPU, 0),
    Metric("wide, {wide_activities} activities: median, ms", Series.WIDE_LATENCY, 0),
    Metric("long, {long_timers:,} timers: server CPU, ms each", Series.LONG_CPU, 0),
    Metric("long, {long_timers:,} timers: worker CPU, ms each", Series.LONG_WORKER_CPU, 0),
    Metric("long, {long_timers:,} timers: median, s", Series.LONG_LATENCY),
    Metric(
        "resident memory after {memory:,} hello workflows, MiB",
        Series.MEMORY,
        0,
        budget=Budget("≤ 1/3", lambda ratio: ratio <= 1 / 3, on_ratio=True),
    ),
    Metric("idle with a polling worker, % of a core", Series.IDLE_SHARE, 2),
)
