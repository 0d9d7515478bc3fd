"""The costs as a table that fits a terminal.

What does not live here: any number's origin (`model`). A newcomer's trap: small numbers matter when they are taken a
million times, so they are shown to two digits that count and not to two decimals.
"""

from collections.abc import Iterable

from perdure.cost.counts import Counts
from perdure.cost.model import Alternative, Cost, Line
from perdure.cost.prices import Price, Prices

_LAYOUT = "{:<26} {:<34} {:>14} {:>14}"
_HEAD = _LAYOUT.format("", "", "per workflow", "$ a million")
_WIDTH = len(_HEAD)


def report(counts: Counts, cost: Cost, prices: Prices) -> str:
    lines = [
        f"{counts.workflows} workflows counted; list prices of {prices.region}, no free tier, no discounts,",
        "no storage, and no compute of the workers and activities themselves",
        "",
        _HEAD,
        "-" * _WIDTH,
        *_part(cost.ours),
    ]
    for alternative in cost.elsewhere:
        lines += ["-" * _WIDTH, *_part(alternative)]
    return "\n".join([*lines, "", *_sources(cost)])


def calls(counts: Counts) -> str:
    """The AWS calls per workflow, most frequent first."""
    found = sorted(counts.calls.items(), key=lambda item: (-item[1], item[0]))
    return "\n".join(f"{number / counts.workflows:>10.2f}  {name}" for name, number in found)


def _part(alternative: Alternative) -> Iterable[str]:
    for line in alternative.lines:
        yield _LAYOUT.format(line.service, line.unit, number(line.per_workflow), _usd(line.usd_per_million))
    if len(alternative.lines) != 1:
        yield _LAYOUT.format(alternative.name, "together", "", _usd(alternative.usd_per_million))


def number(value: float) -> str:
    if value == 0 or value >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}" if value >= 0.001 else f"{value:.1e}"


def _usd(value: float) -> str:
    return f"{value:,.2f}"


def _sources(cost: Cost) -> Iterable[str]:
    every: list[Line] = [*cost.ours.lines, *(line for each in cost.elsewhere for line in each.lines)]
    yield "Prices:"
    for price in dict.fromkeys(line.price for line in every):
        yield f"  {price.unit}: ${price.usd:g} per {price.per:,.0f}, read on {price.read_on}"
        yield f"    {price.source}, {price.url}"
        yield from _note(price)


def _note(price: Price) -> Iterable[str]:
    if price.note:
        yield f"    {price.note}"
