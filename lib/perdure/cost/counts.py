"""What a workload took of each service, and what it did: the numbers between the counting and the prices.

What does not live here: counting (`metering`, `facts`) and prices. A newcomer's trap: counts are of the whole workload
as it ran; they become numbers per workflow only where they are priced.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FORMAT = 1

COUNTS = (
    "lambda_requests",
    "lambda_gb_seconds",
    "api_requests",
    "dynamodb_write_units",
    "dynamodb_read_units",
    "stream_reads",
    "sqs_fifo_requests",
    "sqs_standard_requests",
    "scheduler_invocations",
    "log_gigabytes",
)
"""What is priced. A count that is missing is zero."""

FACTS = (
    "workflows_started",
    "activities_scheduled",
    "activity_retries",
    "heartbeats",
    "timers_started",
    "signals",
    "queries",
    "updates",
    "children_initiated",
    "search_attribute_upserts",
    "marker_tasks",
    "payload_gigabytes",
)
"""What the workload did, in the words that others charge by."""


class CountsUnusable(Exception):
    """The file of counts cannot be read; says why."""


@dataclass(frozen=True, slots=True)
class Counts:
    """`calls` are the AWS calls by service and action, for people who ask where a number comes from."""

    workflows: int
    taken: Mapping[str, float]
    facts: Mapping[str, float]
    calls: Mapping[str, int]

    def per_workflow(self, count: str) -> float:
        return self.taken.get(count, 0.0) / self.workflows


def write(counts: Counts, path: Path) -> None:
    tree = {
        "format": FORMAT,
        "workflows": counts.workflows,
        "taken": dict(counts.taken),
        "facts": dict(counts.facts),
        "calls": dict(counts.calls),
    }
    path.write_text(json.dumps(tree, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def read(path: Path) -> Counts:
    """Raises `CountsUnusable`."""
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CountsUnusable(f"cannot read {path}: {error}") from error
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        raise CountsUnusable(f"{path} is not a file of counts in format {FORMAT}")
    taken, facts = _numbers(path, tree, "taken", COUNTS), _numbers(path, tree, "facts", FACTS)
    workflows = tree.get("workflows")
    if not isinstance(workflows, int) or workflows < 1:
        raise CountsUnusable(f"{path}: workflows is not a number of workflows")
    return Counts(workflows, taken, facts, Counter(tree.get("calls", {})))


def _numbers(path: Path, tree: Mapping[str, Any], key: str, known: tuple[str, ...]) -> dict[str, float]:
    numbers = tree.get(key)
    if not isinstance(numbers, dict):
        raise CountsUnusable(f"{path}: {key} is missing")
    if unknown := set(numbers) - set(known):
        raise CountsUnusable(f"{path}: {key} has names that nothing prices: {', '.join(sorted(unknown))}")
    if not all(isinstance(each, int | float) and each >= 0 for each in numbers.values()):
        raise CountsUnusable(f"{path}: {key} has values that count nothing")
    return {name: float(each) for name, each in numbers.items()}
