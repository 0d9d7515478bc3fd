"""How samples become the table: statistics, ratios and verdicts. Nothing is measured here.

What does not live here: the benchmark itself, which is no test.
A newcomer's mistake: to assert on a measured time. These tests bring their own samples.
"""

from __future__ import annotations

import pytest

from tests.benchmarks.metrics import Samples, Series, percentile_95
from tests.benchmarks.parts import Sizes
from tests.benchmarks.report import table
from tests.benchmarks.servers import ServerKind


def row(samples: Samples, title: str) -> list[str]:
    line = next(line for line in table(samples, Sizes()).splitlines() if title in line)
    return [cell.strip() for cell in line.strip("|").split("|")]


def samples_of(series: Series, temporal: list[float], perdure: list[float]) -> Samples:
    samples = Samples()
    samples.add(series, ServerKind.TEMPORAL, *temporal)
    samples.add(series, ServerKind.PERDURE, *perdure)
    return samples


@pytest.mark.parametrize("ours, verdict", [(4.0, "met"), (4.1, "**missed**")])
def test_a_budget_on_a_ratio_is_judged_by_the_ratio_of_the_medians(ours: float, verdict: str) -> None:
    samples = samples_of(Series.HELLO_CPU, [19.0, 20.0, 90.0], [1.0, ours, 60.0])
    assert row(samples, "server CPU")[1:3] == ["20.0", f"{ours:.1f}"]
    assert row(samples, "server CPU")[-1] == verdict


@pytest.mark.parametrize("ours, verdict", [(1.0, "met"), (1.01, "**missed**")])
def test_a_budget_on_our_own_number_needs_no_other_server(ours: float, verdict: str) -> None:
    samples = samples_of(Series.READY, [], [ours])
    assert row(samples, "time to ready")[1:] == ["-", f"{ours:.2f}", "-", "≤ 1 s", verdict]


def test_what_was_not_measured_is_a_dash_and_is_not_judged() -> None:
    assert row(Samples(), "workflows per second")[1:] == ["-", "-", "-", "≥ 2.2", ""]


@pytest.mark.parametrize("server, verdict", [(4.9, "met"), (5.1, "**missed**")])
def test_the_worker_is_the_bottleneck_when_it_takes_more_processor_time(server: float, verdict: str) -> None:
    samples = samples_of(Series.HELLO_CPU, [], [server])
    samples.add(Series.HELLO_WORKER_CPU, ServerKind.PERDURE, 5.0)
    assert row(samples, "who takes more CPU")[-1] == verdict


@pytest.mark.parametrize("count, expected", [(1, 1), (19, 19), (20, 19), (100, 95)])
def test_the_95th_percentile_is_the_nearest_rank(count: int, expected: int) -> None:
    assert percentile_95([float(number) for number in range(count, 0, -1)]) == expected
