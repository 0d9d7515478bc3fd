"""The arithmetic, against sums that were done by hand."""

import pytest

from perdure.cost import prices
from perdure.cost.counts import Counts
from perdure.cost.model import cost_of
from perdure.cost.report import calls, number, report

HELLO = {"workflows_started": 10.0, "activities_scheduled": 10.0}


def counts(workflows=10, facts=None, **taken):
    return Counts(workflows, taken, HELLO if facts is None else facts, {})


def ours(counted):
    return {line.unit: line for line in cost_of(counted, prices.read()).ours.lines}


def elsewhere(counted):
    return {each.name: each for each in cost_of(counted, prices.read()).elsewhere}


@pytest.mark.parametrize(
    "count, per_workflow, usd_per_million",
    [
        # 45 units of $0.625 a million.
        ("dynamodb_write_units", 45.0, 28.125),
        # 10 units of $0.125 a million.
        ("dynamodb_read_units", 10.0, 1.25),
        # 14 requests of $0.20 a million.
        ("lambda_requests", 14.0, 2.80),
        # 14 calls of 30 ms at 512 MB: 0.21 GB-seconds; times a million, times $0.0000133334.
        ("lambda_gb_seconds", 0.21, 2.800014),
        ("api_requests", 7.0, 7.00),
        ("sqs_fifo_requests", 6.0, 3.00),
        ("sqs_standard_requests", 5.0, 2.00),
        ("scheduler_invocations", 1.0, 1.00),
        # 3,000 bytes: 3,000 GB for a million, at $0.50 a thousandth of that many... 3 KB times a million is 3 GB.
        ("log_gigabytes", 3e-6, 1.50),
        ("stream_reads", 8.0, 0.0),
    ],
)
def test_a_service_costs_its_units_times_its_price(count, per_workflow, usd_per_million):
    (line,) = ours(counts(**{count: per_workflow * 10})).values()
    assert line.per_workflow == pytest.approx(per_workflow)
    assert line.usd_per_million == pytest.approx(usd_per_million)


def test_the_total_is_the_sum_of_the_services():
    cost = cost_of(counts(dynamodb_write_units=450, api_requests=70, sqs_fifo_requests=60), prices.read())
    assert cost.ours.usd_per_million == pytest.approx(28.125 + 7 + 3)


def test_what_was_not_taken_is_not_listed():
    assert ours(counts()) == {}


def test_hello_with_one_activity_elsewhere():
    found = {name: each.usd_per_million for name, each in elsewhere(counts()).items()}
    # Two actions; one transition; the start and a step are two operations.
    assert found == pytest.approx(
        {"Temporal Cloud": 100.0, "Step Functions Standard": 25.0, "Lambda durable functions": 16.0}
    )


def test_a_larger_workflow_elsewhere():
    facts = {
        "workflows_started": 2.0,
        "children_initiated": 1.0,
        "activities_scheduled": 3.0,
        "activity_retries": 2.0,
        "timers_started": 1.0,
        "signals": 1.0,
        "updates": 1.0,
        "queries": 4.0,
        "heartbeats": 5.0,
        "marker_tasks": 1.0,
        "search_attribute_upserts": 1.0,
        "payload_gigabytes": 2e-6,
    }
    found = elsewhere(counts(1, facts))
    # 2 + 1 + 3 + 2 + 1 + 1 + 1 + 4 + 5 + 1 + 1 = 22 actions of $50 a million.
    assert found["Temporal Cloud"].usd_per_million == pytest.approx(1_100)
    # 1 + 3 + 2 + 1 + 1 + 1 = 9 transitions of $25 a million.
    assert found["Step Functions Standard"].usd_per_million == pytest.approx(225)
    # 2 + 1 + 3 + 2 + 1 + 2 + 2 = 13 operations of $8 a million, and 2 GB at $0.25.
    assert found["Lambda durable functions"].usd_per_million == pytest.approx(104.5)


def test_the_table_has_every_line_its_total_and_where_prices_are_from():
    counted = counts(dynamodb_write_units=382.0, api_requests=70.0)
    text = report(counted, cost_of(counted, prices.read()), prices.read())
    assert "10 workflows counted" in text
    assert " 38.2 " in text
    assert "23.88" in text
    assert "30.88" in text
    assert "100.00" in text
    assert "https://aws.amazon.com/dynamodb/pricing/on-demand/" in text
    assert max(len(line) for line in text.splitlines() if "$" not in line and "http" not in line) <= 120


@pytest.mark.parametrize(
    "value, text", [(0, "0"), (38.2, "38.2"), (1234.5, "1234"), (0.21, "0.21"), (3e-6, "3.0e-06")]
)
def test_small_numbers_keep_the_digits_that_count(value, text):
    assert number(value) == text


def test_calls_are_listed_by_how_often_they_come():
    counted = Counts(10, {}, {}, {"SQS SendMessage": 20, "DynamoDB TransactWriteItems": 65})
    assert calls(counted).splitlines() == [
        "      6.50  DynamoDB TransactWriteItems",
        "      2.00  SQS SendMessage",
    ]
