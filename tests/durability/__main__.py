"""Runs the kill test by hand: ``python -m tests.durability [--server temporal] [--kills N] [--seed N]``.

What does not live here: anything but the options. The test that belongs to the suite is test_kill.py.
A newcomer's mistake: to expect the same interleaving from the same seed. The seed fixes choices, not timing.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.servers import ServerKind
from tests.durability.checker import check
from tests.durability.driver import LOAD_SECONDS, Trial, endure
from tests.durability.test_kill import SLOTS, summary


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.durability", description="Kill the server under load."
    )
    parser.add_argument(
        "--server", choices=[kind.value for kind in ServerKind], default=ServerKind.PERDURE.value
    )
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--slots", type=int, default=SLOTS, help="workflow IDs in use at a time")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--load-seconds", type=float, nargs=2, metavar=("MIN", "MAX"), default=LOAD_SECONDS)
    parser.add_argument("--keep", type=Path, help="directory to keep the database and the log in")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="durability-") as name:
        directory = Path(name) if options.keep is None else options.keep
        directory.mkdir(parents=True, exist_ok=True)
        trial = Trial(
            ServerKind(options.server),
            directory,
            options.seed,
            options.kills,
            options.slots,
            print,
            tuple(options.load_seconds),
        )
        evidence = asyncio.run(endure(trial))
    violations = check(evidence)
    print(*violations, summary(evidence, options.seed), sep="\n")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
