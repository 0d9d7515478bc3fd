"""Counts times prices: what a million such workflows cost, here and elsewhere.

What does not live here: rounding and layout (`report`). A newcomer's trap: nothing is rounded before the end; units
that are billed whole (a request of 64 KB, a write unit of 1 KB) were made whole when they were counted.
"""

from dataclasses import dataclass

from perdure.cost.counts import Counts
from perdure.cost.prices import Price, Prices

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that is charged for."""

    service: str
    unit: str
    per_workflow: float
    usd_per_million: float
    price: Price


@dataclass(frozen=True, slots=True)
class Alternative:
    """The same work at another place."""

    name: str
    lines: tuple[Line, ...]

    @property
    def usd_per_million(self) -> float:
        return sum(line.usd_per_million for line in self.lines)


@dataclass(frozen=True, slots=True)
class Cost:
    ours: Alternative
    elsewhere: tuple[Alternative, ...]


def cost_of(counts: Counts, prices: Prices) -> Cost:
    """Free lines of ours are kept when something was counted, so that nobody asks where they went."""
    lines = [
        _line(service, price, counts.per_workflow(name)) for name, (service, price) in prices.prices.items()
    ]
    ours = Alternative("Perdure", tuple(line for line in lines if line.per_workflow))
    names = dict.fromkeys(each.name for each in prices.elsewhere)
    return Cost(ours, tuple(_alternative(name, counts, prices) for name in names))


def _alternative(name: str, counts: Counts, prices: Prices) -> Alternative:
    lines = []
    for each in prices.elsewhere:
        if each.name == name:
            units = sum(counts.facts.get(fact, 0.0) * takes for fact, takes in each.takes.items())
            lines.append(_line(name, each.price, units / counts.workflows))
    return Alternative(name, tuple(lines))


def _line(service: str, price: Price, per_workflow: float) -> Line:
    return Line(service, price.unit, per_workflow, price.of(per_workflow * MILLION), price)
