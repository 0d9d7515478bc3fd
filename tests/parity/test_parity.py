"""Each scenario runs on the reference server and on ours; what they show must be equal."""

from __future__ import annotations

import pytest

from .comparing import SCENARIOS, hold_equal
from .servers import GivenServer, Server

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("name", SCENARIOS)
def test_both_servers_show_the_same(name: str, servers: tuple[Server, Server | GivenServer]) -> None:
    """Histories, results and errors are equal event by event and field by field."""
    hold_equal(name, *servers)
