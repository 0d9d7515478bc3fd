"""Every scenario of `tests/parity` shows on the deployment what it shows on the reference server.

It does so on two deployments: with the fast path and the relay, as usual, and with the relay alone.

The one thing a newcomer gets wrong: scenarios' IDs are fixed, so a deployment serves one run of them. One that is given
by AWS_ENDPOINT_URL must be fresh.
"""

from collections.abc import Iterator

import pytest

from localstack.bridge import Bridge
from tests.parity.comparing import SCENARIOS, hold_equal
from tests.parity.servers import GivenServer, Server, start_oracle

# Where calls come at once, each wakes a process, which on a busy machine may take a call's whole time. So a scenario
# that differs is tried once more. A run that continues within a second of its start is followed after a pause, and one
# that took longer without: these show something else wherever a process just starts, and get three tries.
TRIES, TRIES_WITHIN_A_SECOND = 2, 3
WITHIN_A_SECOND = frozenset(
    {
        "bad-closing-commands",
        "child-is-retried",
        "continue-as-new-plain",
        "continue-as-new-resets-the-attempt",
        "continue-as-new-takes-signals-along",
        "continue-as-new-twice-keeps-the-first-run",
        "continue-as-new-with-everything",
        "cron-continues-as-new",
        "cron-is-cancelled",
        "cron-run-times-out",
        "cron-runs-again-and-again",
        "cron-with-retry-policy-retries-first",
        "reset-a-cron-and-a-retried-run",
        "sdk-continue-as-new",
        "sticky-task-times-out-while-it-runs",
        "workflow-is-retried-after-run-timeout",
        "workflow-is-retried-until-maximum-attempts",
        "workflow-retry-delay-is-set-by-the-failure",
    }
)

pytestmark = [pytest.mark.oracle, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def oracle() -> Iterator[Server]:
    server = start_oracle()
    try:
        yield server
    finally:
        server.stop()


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_deployment_shows_the_same(
    name: str, oracle: Server, bridge: Bridge, bridge_of_relay: Bridge
) -> None:
    usual, relay_alone = (
        GivenServer("deployment", bridge.address),
        GivenServer("relay alone", bridge_of_relay.address),
    )
    tries = TRIES_WITHIN_A_SECOND if name in WITHIN_A_SECOND else TRIES
    hold_equal(name, oracle, usual, relay_alone, tries=tries)


def test_the_scenarios_that_must_be_quick_exist() -> None:
    assert set(SCENARIOS) >= WITHIN_A_SECOND
