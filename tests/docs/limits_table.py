"""The page docs/LIMITS.md and the README's excerpt: every bound of `model/limits.py` with its unit and its use.

What does not live here: a bound. Names, values and comments are read from the module's source.
The one thing a newcomer gets wrong: a bound that no other module names holds nothing; the page says so of each.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from durable_core.model import limits

LIBRARY = Path(limits.__file__).resolve().parents[1]
_TIMES = {"SECOND", "MINUTE", "HOUR", "DAY"}
_NS_PER_SECOND = 1_000_000_000
_COMMENT = re.compile(r"#\s*(.*)$")

INTRODUCTION = """\
# Limits

Written by `python -m tests.docs` from `lib/durable_core/model/limits.py`. The values are the Temporal server's
defaults. A bound that is marked "not yet" is named and not held: nothing in the code asks for it so far."""

# What most people meet first, in the words of a reader.
EXCERPT = {
    "blob_bytes_max": "one payload field of a request or a command",
    "memo_bytes_max": "a run's memo",
    "workflow_task_completion_bytes_max": "the answer to one workflow task",
    "id_length_max": "an ID, a type's name or a task queue's name",
    "pending_activities_max": "pending activities of a run",
    "pending_children_max": "pending children of a run",
    "signals_per_run_max": "signals to one run",
    "updates_in_flight_max": "updates in flight of a run",
    "history_events_suggest_continue_as_new": "events after which continue-as-new is suggested",
    "history_events_max": "events of a run's history",
}


@dataclass(frozen=True)
class Limit:
    """One bound as its module states it."""

    name: str
    value: str
    note: str
    held: bool


def all_limits() -> list[Limit]:
    """Every bound, in the module's order."""
    source = Path(limits.__file__).read_text(encoding="utf-8")
    used = _used()
    found = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            lines = source.splitlines()[node.lineno - 1 : node.end_lineno]
            notes = [match.group(1) for line in lines if (match := _COMMENT.search(line))]
            found.append(Limit(name, _shown(name, node.value), " ".join(notes), name in used))
    return found


def _used() -> set[str]:
    """The names that any other module asks for."""
    return {
        name
        for path in LIBRARY.rglob("*.py")
        for name in re.findall(r"\blimits\.([a-z_]+)", path.read_text(encoding="utf-8"))
    }


def _shown(name: str, expression: ast.expr) -> str:
    value = getattr(limits, name)
    names = {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
    if names & _TIMES:
        return _duration(value)
    return f"{value:,}"


def _duration(nanoseconds: int) -> str:
    seconds = nanoseconds // _NS_PER_SECOND
    for unit, size in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds % size == 0 and seconds // size > 1:
            return f"{seconds // size:,} {unit}"
    return f"{seconds:,} s"


def page() -> str:
    """The whole of docs/LIMITS.md."""
    lines = [INTRODUCTION, "", "| name | value | unit, meaning | held |", "|---|---:|---|---|"]
    for limit in all_limits():
        held = "yes" if limit.held else "not yet"
        lines.append(f"| `{limit.name}` | {limit.value} | {limit.note} | {held} |")
    return "\n".join(lines) + "\n"


def excerpt() -> str:
    """The README's short table."""
    by_name = {limit.name: limit for limit in all_limits()}
    lines = ["| what | at most |", "|---|---:|"]
    for name, meaning in EXCERPT.items():
        limit = by_name[name]
        unit = limit.note.split(":")[0].split(",")[0]
        unit = f" {unit}" if unit in ("bytes", "events") else ""
        lines.append(f"| {meaning} | {limit.value}{unit}{'' if limit.held else ' (not held yet)'} |")
    return "\n".join(lines)
