"""The `perdure cost` process: count a workload that runs on the local AWS, or take counts from a file; print the table.

What does not live here: counting and pricing. A newcomer's trap: the functions must call AWS through us, too. MiniStack
gives them the AWS_ENDPOINT_URL of its own environment, so it is started with ours in it and on another port.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from perdure.cost import counts as counting
from perdure.cost import prices as pricing
from perdure.cost.counts import Counts, CountsUnusable
from perdure.cost.model import cost_of
from perdure.cost.prices import PricesUnusable
from perdure.cost.report import calls, report

EXIT_REFUSED = 1
# What follows a workload's last answer (its stream records, its service tasks, its logs) belongs to it.
SETTLE_SECONDS = 5.0
REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class CostOptions:
    """Either `counts` names a file, or `upstream` is the local AWS, and `command` the workload that runs on it."""

    counts: Path | None
    upstream: str | None
    port: int
    command: tuple[str, ...]
    workflows: int | None
    write: Path | None
    with_calls: bool


def run(options: CostOptions) -> int:
    try:
        prices = pricing.read()
        counts = counting.read(options.counts) if options.counts is not None else asyncio.run(_count(options))
    except (CountsUnusable, PricesUnusable, OSError) as refusal:
        print(f"perdure: {refusal}", file=sys.stderr)
        return EXIT_REFUSED
    if options.write is not None:
        counting.write(counts, options.write)
    print(report(counts, cost_of(counts, prices), prices))
    if options.with_calls:
        print(f"\nAWS calls per workflow:\n{calls(counts)}")
    return 0


async def _count(options: CostOptions) -> Counts:
    from perdure.cost.counting_proxy import counting as proxy
    from perdure.cost.lambda_logs import taken_by_lambda
    from perdure.cost.metering import Meter

    assert options.upstream is not None
    meter = Meter()
    async with proxy(meter, options.upstream, options.port) as url:
        print(f"Counting    {url} -> {options.upstream}", flush=True)
        since_ms = int(time.time() * 1000)
        code = await _workload(options.command, url)
        if code != 0:
            raise CountsUnusable(f"the workload ended with {code}")
        await asyncio.sleep(SETTLE_SECONDS)
        by_lambda = await asyncio.to_thread(taken_by_lambda, options.upstream, REGION, since_ms)
    workflows = options.workflows or meter.facts["workflows_started"]
    if not workflows:
        raise CountsUnusable("no workflow was started through the proxy: did the bridge go through it?")
    return Counts(workflows, {**meter.taken(), **by_lambda}, dict(meter.facts), meter.calls)


async def _workload(command: Sequence[str], url: str) -> int:
    """Run the command with its AWS calls going to us. Without one, count until somebody stops us."""
    if not command:
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        print("Ready; stop it with Ctrl-C and the table comes", flush=True)
        await stop.wait()
        return 0
    environment = {**os.environ, "AWS_ENDPOINT_URL": url}
    process = await asyncio.create_subprocess_exec(*command, env=environment, stdin=subprocess.DEVNULL)
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
