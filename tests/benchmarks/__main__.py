"""The command line of the benchmarks: chooses parts and sizes, shows progress, prints a table per storage.

What does not live here: anything that measures.
A newcomer's mistake: to run it beside other work. The ratios survive that; the absolute numbers do not.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import signal
import sys
import time
from pathlib import Path

from tests.benchmarks.parts import Part, Plan, Sizes, run_plan
from tests.benchmarks.report import document, table
from tests.benchmarks.servers import ServerFailed, ServerKind

QUICK = Sizes(
    hello=100,
    latency=15,
    wide=2,
    long_timers=20,
    long_timers_per_run=5,
    memory=500,
    ready=2,
    idle_seconds=2.0,
)
STORAGES = ("memory", "file")
# These take minutes and say little about storage, so they are measured on the first storage only.
ONCE = frozenset({Part.MEMORY, Part.LONG})


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks", description="Compare perdure dev with temporal server start-dev."
    )
    parser.add_argument(
        "--parts", default=",".join(part.value for part in Part), help="comma-separated (default: all)"
    )
    parser.add_argument(
        "--servers", default=",".join(kind.value for kind in ServerKind), help="comma-separated"
    )
    parser.add_argument(
        "--storage", default=",".join(STORAGES), help="memory, file or both (default), comma-separated"
    )
    parser.add_argument("--rounds", type=int, default=3, help="turns that each server takes")
    parser.add_argument("--quick", action="store_true", help="sizes that take about a minute, for a look")
    parser.add_argument(
        "--sandbox",
        action="store_true",
        help="run workflows in the SDK's sandbox, which costs the worker more",
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page to a file, too")
    for field in dataclasses.fields(Sizes):
        option = f"--{field.name.replace('_', '-')}"
        kind = float if field.name.endswith("seconds") else int
        parser.add_argument(option, type=kind, help=f"default {field.default}")
    return parser.parse_args(arguments)


def sizes_of(options: argparse.Namespace) -> Sizes:
    """Return the sizes asked for: the defaults, or the quick ones, with whatever was named on the command line."""
    chosen = {name: value for name, value in vars(options).items() if name in Sizes.__dataclass_fields__}
    given = {name: value for name, value in chosen.items() if value is not None}
    return dataclasses.replace(QUICK if options.quick else Sizes(), **given)


async def run(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Measure each kind of storage and return its title and table. SIGTERM ends the servers, too."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    sizes = sizes_of(options)
    begun = time.monotonic()
    sections: list[tuple[str, str]] = []
    for number, storage in enumerate(options.storage.split(",")):
        parts = {Part(name) for name in options.parts.split(",")}
        if number > 0:
            parts -= ONCE

        def progress(text: str, storage: str = storage) -> None:
            print(f"{time.monotonic() - begun:6.0f} s  {storage:6}  {text}", file=sys.stderr, flush=True)

        plan = Plan(
            parts=frozenset(parts),
            kinds=tuple(ServerKind(name) for name in options.servers.split(",")),
            sizes=sizes,
            rounds=options.rounds,
            on_file=storage == "file",
            sandbox=options.sandbox,
            progress=progress,
        )
        samples = await run_plan(plan)
        title = "Storage: in memory" if storage == "memory" else "Storage: a SQLite file"
        sections.append((title, table(samples, sizes)))
    return sections


def main() -> int:
    options = parse(sys.argv[1:])
    try:
        sections = asyncio.run(run(options))
    except ServerFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    except (asyncio.CancelledError, KeyboardInterrupt):
        print("stopped", file=sys.stderr)
        return 1
    page = document(sections, ["python -m tests.benchmarks", *sys.argv[1:]])
    print(page)
    if options.write is not None:
        options.write.write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
