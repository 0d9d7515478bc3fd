"""What the hello workflow takes of AWS, against the budgets of the design: counted call by call, through the meter.

The workflow has one activity and no eager tasks. What lives here: the counts of a warm deployment. What does not: the
time and the logs of functions, which this process cannot tell. A newcomer's trap: the calls on a workflow's path are
those made while somebody waits for an answer; what the stream's readers and the service's queues do comes after, and is
billed too.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from google.protobuf.duration_pb2 import Duration

from perdure.cost import prices
from perdure.cost.counting_proxy import counting
from perdure.cost.counts import Counts
from perdure.cost.metering import Meter
from perdure.cost.model import cost_of
from tests.aws.functions import functions
from tests.aws.local import Account
from tests.aws.test_functions import activity_task, complete_activity, respond, start, workflow_task
from tests.properties import commands

pytestmark = pytest.mark.aws

TRANSACTIONS_MAX = 7
WRITE_UNITS_MAX = 45
PATH_CALLS_MAX = 18
USD_A_MILLION_MAX = 45
# The answered calls of the API, with the one that waits for the result; each is a call of a function, too.
API_CALLS = 8


@contextmanager
def metered(upstream: str) -> Iterator[tuple[Meter, str]]:
    """A meter, and the address of the proxy that feeds it, which runs in a thread of its own."""
    meter, ready, done = Meter(), threading.Event(), threading.Event()
    address: list[str] = []

    async def serve() -> None:
        async with counting(meter, upstream, 0) as url:
            address.append(url)
            ready.set()
            await asyncio.to_thread(done.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(30)
        yield meter, address[0]
    finally:
        done.set()
        thread.join()


@dataclass(frozen=True)
class Hello:
    """One warm hello workflow: its calls on the path, all its calls, and what it took."""

    on_path: Counter[str]
    calls: Counter[str]
    taken: dict[str, float]


def live(deployment, workflow_id):
    start(deployment, workflow_id)
    respond(deployment, workflow_task(deployment), commands.schedule_activity("x", Duration(seconds=60)))
    complete_activity(deployment, activity_task(deployment))
    respond(deployment, workflow_task(deployment), commands.complete_workflow())


@pytest.fixture
def hello(account, monkeypatch):
    with (
        metered(account.url) as (meter, url),
        functions(Account(url, account.number), monkeypatch) as deployment,
    ):
        for workflow_id in ("cold", "warm"):
            meter.reset()
            live(deployment, workflow_id)
            on_path = Counter(meter.calls)
            records = deployment.records()
            read = Counter(meter.calls)
            deployment.relay(records)
            deployment.arm(records)
            deployment.serve()
            # Reading the stream is Lambda's, and free.
            calls = meter.calls - (read - on_path)
        return Hello(on_path, calls, meter.taken())


def test_a_hello_workflow_takes_no_more_than_its_budgets(hello):
    assert hello.calls["DynamoDB TransactWriteItems"] <= TRANSACTIONS_MAX, hello
    assert hello.taken["dynamodb_write_units"] <= WRITE_UNITS_MAX, hello


def test_a_hello_workflow_makes_no_more_calls_on_its_path_than_its_budget(hello):
    assert hello.on_path.total() <= PATH_CALLS_MAX, hello


def test_a_hello_workflow_costs_no_more_than_its_budget_but_for_time_and_logs_of_functions(hello):
    taken = {
        **hello.taken,
        "api_requests": API_CALLS,
        # Each call of the API, and one each for relay, arm, service task and wake-up.
        "lambda_requests": API_CALLS + 4,
    }
    cost = cost_of(Counts(1, taken, {}, {}), prices.read())
    assert cost.ours.usd_per_million <= USD_A_MILLION_MAX, f"{cost.ours}"
