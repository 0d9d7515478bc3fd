"""The file of prices is dated, has its sources, and prices exactly what is counted."""

import datetime
import re
from urllib.parse import urlsplit

import pytest

from perdure.cost.counts import COUNTS, FACTS
from perdure.cost.prices import PRICES, PricesUnusable, read

ENTRIES = [
    *(price for _, price in read().prices.values()),
    *(each.price for each in read().elsewhere),
]


@pytest.mark.parametrize("price", ENTRIES, ids=lambda price: price.unit)
def test_every_price_has_a_date_and_a_public_source(price):
    assert datetime.date(2025, 12, 1) <= price.read_on <= datetime.date(2035, 1, 1)
    assert price.source
    host = urlsplit(price.url).hostname
    assert host in {"aws.amazon.com", "docs.temporal.io"}


def test_every_count_has_a_price_and_every_price_a_count():
    assert set(read().prices) == set(COUNTS)


def test_every_fact_is_charged_for_somewhere():
    charged = {fact for each in read().elsewhere for fact in each.takes}
    assert charged == set(FACTS)


def test_the_three_others_are_there():
    assert {each.name for each in read().elsewhere} == {
        "Temporal Cloud",
        "Step Functions Standard",
        "Lambda durable functions",
    }


@pytest.mark.parametrize(
    "pattern, replacement, said",
    [
        (r"usd = 0.20", "usd = -1", "usd is not an amount"),
        (r"per = 1_000_000", "per = 0", "per is not a number of units"),
        (r"read_on = 2026-06-18", 'read_on = "yesterday"', "read_on is not a date"),
        (r'url = "https:', 'url = "http:', "url is not the address of a source"),
        (r'source = "[^"]*"', 'source = ""', "source is missing"),
        (r"\[price.api_requests\]", "[price.something_else]", "api_requests, something_else"),
        (r"workflows_started = 1", "workflows_begun = 1", "no such facts: workflows_begun"),
        (r"payload_gigabytes = 1\n", "", "says not what a fact takes"),
        (r"\[about\]", "[about", "prices.toml"),
    ],
)
def test_a_file_that_breaks_a_rule_is_refused_with_that_rule(tmp_path, pattern, replacement, said):
    file = tmp_path / "prices.toml"
    text, changed = re.subn(pattern, replacement, PRICES.read_text(encoding="utf-8"), count=1)
    assert changed
    file.write_text(text, encoding="utf-8")
    with pytest.raises(PricesUnusable, match=re.escape(said)):
        read(file)
