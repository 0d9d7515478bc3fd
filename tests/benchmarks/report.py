"""Turns samples into the Markdown table, with the machine it was measured on.

What does not live here: measuring, and the rows with their budgets (metrics.py).
A newcomer's mistake: to round before dividing. Ratios come from the full numbers.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path

from tests.benchmarks.metrics import METRICS, Metric, Samples, Series
from tests.benchmarks.parts import Sizes
from tests.benchmarks.servers import MEBIBYTE, ServerKind, temporal_program

INTRODUCTION = """\
Server and worker are processes of their own; the client that starts the workflows is a third. Both servers were up all
the time and took turns, round by round, so that noise hits both. Numbers are medians over the rounds; a ratio is ours
divided by the reference server's. The long workflow mostly waits and ran on both at the same time, once. The budgets
are those of the design. Nothing here fails because it was slow."""
HEADER = ("| | temporal | perdure | ratio | budget | |", "|---|---:|---:|---:|---|---|")


def table(samples: Samples, sizes: Sizes) -> str:
    """Return one table; a number that was not measured is a dash, and a budget is judged only when it can be."""
    rows = [*HEADER, *(_row(metric, samples, sizes) for metric in METRICS), _bottleneck_row(samples, sizes)]
    return "\n".join(rows)


def _row(metric: Metric, samples: Samples, sizes: Sizes) -> str:
    reference = metric.value(samples, ServerKind.TEMPORAL)
    ours = metric.value(samples, ServerKind.PERDURE)
    ratio = ours / reference if ours is not None and reference else None
    verdict = ""
    if metric.budget is not None:
        judged = ratio if metric.budget.on_ratio else ours
        verdict = "" if judged is None else _verdict(metric.budget.is_met(judged))
    cells = [
        metric.title.format(**vars(sizes)),
        _number(reference, metric.digits),
        _number(ours, metric.digits),
        _number(ratio, 2),
        metric.budget.text if metric.budget else "",
        verdict,
    ]
    return "| " + " | ".join(cells) + " |"


def _bottleneck_row(samples: Samples, sizes: Sizes) -> str:
    """Say which process keeps the hello load from going faster, by the processor time that each takes of a workflow."""
    shown: list[str] = []
    judged: list[bool] = []
    for kind in (ServerKind.TEMPORAL, ServerKind.PERDURE):
        server, worker = samples.of(Series.HELLO_CPU, kind), samples.of(Series.HELLO_WORKER_CPU, kind)
        if not server or not worker:
            shown.append("-")
            continue
        worker_is = sum(worker) > sum(server)
        shown.append("worker" if worker_is else "server")
        if kind is ServerKind.PERDURE:
            judged.append(worker_is)
    verdict = "".join(_verdict(met) for met in judged)
    return f"| hello, {sizes.at_once} at once: who takes more CPU | {shown[0]} | {shown[1]} | | worker | {verdict} |"


def machine() -> str:
    """Describe what the numbers were measured on, as a Markdown list."""
    version = subprocess.run([temporal_program(), "--version"], capture_output=True, text=True, check=True)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / MEBIBYTE / 1024
    lines = [
        f"Machine: {os.cpu_count()} cores, {_processor()}, {memory:.0f} GiB, {platform.system()} {platform.release()}",
        f"Python {sys.version.split()[0]}; temporalio {metadata.version('temporalio')}",
        f"Servers: perdure {_version('perdure')}; {version.stdout.strip()}",
    ]
    return "\n".join(f"- {line}" for line in lines)


def document(sections: Iterable[tuple[str, str]], command: Sequence[str]) -> str:
    """Return the whole page: what was run, on which machine, and one table for each kind of storage."""
    parts = [
        "# Benchmarks",
        INTRODUCTION,
        f"Written by `{' '.join(command)}`.",
        machine(),
    ]
    for title, text in sections:
        parts += [f"## {title}", text]
    return "\n\n".join(parts) + "\n"


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "of this checkout"


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _verdict(met: bool) -> str:
    return "met" if met else "**missed**"
