"""Every scenario of `tests/parity` shows on the deployment what it shows on the reference server.

The one thing a newcomer gets wrong: scenarios' IDs are fixed, so a deployment serves one run of them. One that is given
by AWS_ENDPOINT_URL must be fresh.
"""

from collections.abc import Iterator

import pytest

from localstack.bridge import Bridge
from tests.parity.comparing import SCENARIOS, hold_equal
from tests.parity.servers import GivenServer, Server, start_oracle

pytestmark = [pytest.mark.oracle, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def oracle() -> Iterator[Server]:
    server = start_oracle()
    try:
        yield server
    finally:
        server.stop()


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_deployment_shows_the_same(name: str, oracle: Server, bridge: Bridge) -> None:
    hold_equal(name, oracle, GivenServer("deployment", bridge.address))
