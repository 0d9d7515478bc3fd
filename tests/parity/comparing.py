"""Run a scenario on the reference server and others, and say readably where what they show differs.

Here lives the comparison; which servers are compared is for the tests. Newcomers forget that a scenario that fails on
the reference server is itself wrong: the message says which of the two it was.
"""

from __future__ import annotations

import asyncio
import difflib
import json
import traceback
from typing import Any

import pytest

from .environment import Environment
from .normalise import Normaliser
from .scenarios import Scenario, load_all
from .servers import GivenServer, Server

SCENARIOS = load_all()
SCENARIO_SECONDS_MAX = 60.0


def hold_equal(name: str, oracle: Server, *others: Server | GivenServer, tries: int = 1) -> None:
    """Fail unless the scenario shows the same on all of them: histories, results and errors, field by field.

    With more than one of the `tries`, each must do so in one of them; a try has IDs of its own.
    """
    left = {other.name: other for other in others}
    for number in range(1, tries + 1):
        suffix = f"-{number}" if number > 1 else ""
        expected, *found = asyncio.run(_observe_all(name, suffix, oracle, *left.values()))
        if "raised" in expected and number == tries:
            pytest.fail(f"the scenario is wrong, it fails on {oracle.name}: {expected['raised']}")
        differences = {
            other: _difference(expected, actual, oracle.name, other)
            for other, actual in zip(left, found, strict=True)
            if actual != expected
        }
        if not differences:
            return
        print(f"try {number} of {tries}:", *differences.values(), sep="\n")
        left = {other: left[other] for other in differences}
    pytest.fail("\n".join(differences.values()), pytrace=False)


async def _observe_all(name: str, suffix: str, *servers: Server | GivenServer) -> list[dict[str, Any]]:
    scenario, of_ids = SCENARIOS[name], name + suffix
    return await asyncio.gather(*(observe(of_ids, scenario, server.address) for server in servers))


async def observe(name: str, scenario: Scenario, address: str) -> dict[str, Any]:
    """Run a scenario on one server and give its normalised observation; an error is part of it.

    `name` is what its IDs begin with.
    """
    environment = Environment(address, name)
    run = asyncio.wait_for(scenario(environment), SCENARIO_SECONDS_MAX)
    (raised,) = await asyncio.gather(run, return_exceptions=True)
    await environment.close()
    normaliser = Normaliser(sdk_worker=environment.uses_sdk)
    observation = normaliser.observation(environment.notes, environment.histories)
    if raised is not None:
        observation["raised"] = "".join(traceback.format_exception(raised))
    return observation


def _difference(expected: dict[str, Any], actual: dict[str, Any], name: str, other: str) -> str:
    lines = difflib.unified_diff(_lines(expected), _lines(actual), name, other, lineterm="", n=6)
    return "\n".join(lines)


def _lines(observation: dict[str, Any]) -> list[str]:
    return json.dumps(observation, indent=1, ensure_ascii=False, sort_keys=False).splitlines()
