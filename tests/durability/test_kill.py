"""The kill test: 200 times SIGKILL at random moments under load on a file database.

What does not live here: load, killing, rules. PERDURE_KILLS sets the number of kills, PERDURE_SEED the seed.
A newcomer's mistake: to read a failure as a flake. Run it again with the printed seed and the directory kept:
``python -m tests.durability --seed N --keep DIRECTORY``.
"""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

import pytest

from tests.benchmarks.servers import ServerKind
from tests.durability.checker import check
from tests.durability.driver import Trial, endure
from tests.durability.evidence import Evidence

# The kills are split into parts with databases of their own, so that parallel test workers share them.
PARTS = 4
KILLS = int(os.environ.get("PERDURE_KILLS", "200"))
SEED = int(os.environ.get("PERDURE_SEED") or random.randrange(1_000_000))
SLOTS = 60
SHOWN_VIOLATIONS_MAX = 20


def summary(evidence: Evidence, seed: int) -> str:
    """Return one line with everything that was counted."""
    ledger = evidence.ledger
    return (
        f"seed {seed}: {ledger.kills} kills, {ledger.acknowledged_requests()} acknowledged requests "
        f"({len(ledger.starts)} starts, {len(ledger.signals)} signals, "
        f"{len(ledger.task_answers)} workflow task answers, {len(ledger.activity_answers)} activity answers; "
        f"{ledger.repeated_requests()} repeated), "
        f"{len(evidence.histories)} runs with {evidence.events()} events checked"
    )


@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_acknowledged_is_lost_and_nothing_acts_twice_when_the_server_is_killed(
    part: int, tmp_path: Path
) -> None:
    seed = SEED + part
    kills = KILLS // PARTS + (part < KILLS % PARTS)
    print(f"seed {seed}")
    evidence = asyncio.run(endure(Trial(ServerKind.PERDURE, tmp_path, seed, kills, SLOTS, print)))
    violations = check(evidence)
    print(summary(evidence, seed))
    assert not violations, "\n".join(
        [f"seed {seed}: {len(violations)} violations", *violations[:SHOWN_VIOLATIONS_MAX]]
    )
