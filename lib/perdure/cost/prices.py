"""The prices: one dated file with its sources, read and checked as a whole.

What does not live here: what a workload takes (`counts`), and the sum (`model`). A newcomer's trap: the file says how
many of somebody's units a fact takes, so a price without its metering rule cannot be there.
"""

import datetime
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from perdure.cost.counts import COUNTS, FACTS

PRICES = Path(__file__).with_name("prices.toml")


class PricesUnusable(Exception):
    """The file of prices breaks one of its own rules; says which."""


@dataclass(frozen=True, slots=True)
class Price:
    """`usd` are paid for `per` units."""

    unit: str
    usd: float
    per: float
    read_on: datetime.date
    source: str
    url: str
    note: str

    def of(self, units: float) -> float:
        """What so many units cost, in USD."""
        return units * self.usd / self.per


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another place to do the work: `takes` has its units for each of one fact."""

    name: str
    price: Price
    takes: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Prices:
    """`prices` are by the count's name, each with its service; `elsewhere` in the file's order."""

    region: str
    prices: Mapping[str, tuple[str, Price]]
    elsewhere: tuple[Elsewhere, ...]


def read(path: Path = PRICES) -> Prices:
    """The prices in the file. Raises `PricesUnusable`."""
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise PricesUnusable(f"{path}: {error}") from error
    prices = {
        name: (_text(name, each, "service"), _price(name, each)) for name, each in tree["price"].items()
    }
    if set(prices) != set(COUNTS):
        odd = ", ".join(sorted(set(prices) ^ set(COUNTS)))
        raise PricesUnusable(f"{path}: every count has one price and every price one count; not so: {odd}")
    elsewhere = tuple(_elsewhere(each) for each in tree["elsewhere"])
    return Prices(tree["about"]["region"], prices, elsewhere)


def _elsewhere(entry: Mapping[str, Any]) -> Elsewhere:
    name = _text("elsewhere", entry, "name")
    takes = dict(entry.get("takes", {}))
    if not takes:
        raise PricesUnusable(f"{name}: says not what a fact takes")
    if unknown := set(takes) - set(FACTS):
        raise PricesUnusable(f"{name}: no such facts: {', '.join(sorted(unknown))}")
    return Elsewhere(name, _price(name, entry), takes)


def _price(name: str, entry: Mapping[str, Any]) -> Price:
    usd, per, read_on, url = entry.get("usd"), entry.get("per"), entry.get("read_on"), entry.get("url", "")
    if not isinstance(usd, int | float) or usd < 0:
        raise PricesUnusable(f"{name}: usd is not an amount")
    if not isinstance(per, int | float) or per <= 0:
        raise PricesUnusable(f"{name}: per is not a number of units")
    if not isinstance(read_on, datetime.date):
        raise PricesUnusable(f"{name}: read_on is not a date")
    if urlsplit(str(url)).scheme != "https":
        raise PricesUnusable(f"{name}: url is not the address of a source")
    texts = (_text(name, entry, "unit"), _text(name, entry, "source"), str(entry.get("note", "")))
    return Price(texts[0], float(usd), float(per), read_on, texts[1], str(url), texts[2])


def _text(name: str, entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise PricesUnusable(f"{name}: {key} is missing")
    return value
