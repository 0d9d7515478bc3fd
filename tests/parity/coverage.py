"""What the scenarios exercise: `python -m tests.parity.coverage` runs them on our server and writes docs/COVERAGE.md.

Here live the collecting and the page. What becomes of each field is read from the code (`request_fields`), what is
exercised from the requests that the scenarios send and the histories they record. Newcomers forget that SDK workers
speak to the server by themselves: what only they send does not count here.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from temporalio.api.enums.v1 import CommandType, EventType

from durable_core.services import rpcs
from durable_core.services.request_fields import HINTS, HINTS_OF, REFUSED
from durable_core.wire.methods import OPERATOR_SERVICE_NAME, SERVICES, WORKFLOW_SERVICE_NAME

from .environment import Environment
from .scenarios import load_all
from .servers import start_ours

PAGE = Path(__file__).parents[2] / "docs" / "COVERAGE.md"
SCENARIO_SECONDS_MAX = 60.0

# Event types and commands that no scenario can bring about yet, with the reason.
LATER = {
    "ACTIVITY_PROPERTIES_MODIFIED_EXTERNALLY": "written by no server yet",
    "WORKFLOW_PROPERTIES_MODIFIED_EXTERNALLY": "written by no server yet",
    "WORKFLOW_EXECUTION_UPDATE_ADMITTED": "written only for updates that a reset reapplies",
    "WORKFLOW_EXECUTION_UPDATE_REJECTED": "never written: a rejection leaves no trace",
    "WORKFLOW_EXECUTION_PAUSED": "stage 2",
    "WORKFLOW_EXECUTION_UNPAUSED": "stage 2",
    "WORKFLOW_EXECUTION_TIME_SKIPPING_TRANSITIONED": "stage 2",
}
_STAGE_2 = "NEXUS"


@dataclass
class Seen:
    """Fields by method, commands and events, each by its name."""

    fields: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    commands: set[str] = field(default_factory=set)
    events: set[str] = field(default_factory=set)
    scenarios: int = 0

    def take(self, environment: Environment) -> None:
        """Count one scenario."""
        self.scenarios += 1
        for method, request in environment.requests:
            self.fields[method] |= {descriptor.name for descriptor, _ in request.ListFields()}
            for command in getattr(request, "commands", ()):
                self.commands.add(_command(command.command_type))
        for events in environment.histories.values():
            self.events |= {event["eventType"].removeprefix("EVENT_TYPE_") for event in events}


def _command(number: int) -> str:
    names = {value: name for name, value in CommandType.items()}
    return names.get(number, str(number)).removeprefix("COMMAND_TYPE_")


async def _run(address: str) -> Seen:
    seen = Seen()
    for name, scenario in load_all().items():
        environment = Environment(address, name)
        run = asyncio.wait_for(scenario(environment), SCENARIO_SECONDS_MAX)
        (raised,) = await asyncio.gather(run, return_exceptions=True)
        await environment.close()
        if raised is not None:
            print(f"{name}: {raised!r}")
        seen.take(environment)
    return seen


def implemented() -> Iterator[tuple[str, str, Any]]:
    """Service, method and request type of each implemented method."""
    tables = ((WORKFLOW_SERVICE_NAME, rpcs.WORKFLOW_SERVICE), (OPERATOR_SERVICE_NAME, rpcs.OPERATOR_SERVICE))
    for service, table in tables:
        for name in table:
            yield service, name, SERVICES[service].methods_by_name[name].input_type


def fate(method: str, name: str) -> str:
    """What becomes of a field of a request."""
    if name in REFUSED.get(method, {}):
        return "refused where it asks for what is not there"
    if (method, name) in HINTS_OF:
        return f"hint: {HINTS_OF[method, name]}"
    if name in HINTS:
        return f"hint: {HINTS[name]}"
    return "used"


def page(seen: Seen) -> str:
    """The whole page."""
    lines = [
        "# What is covered",
        "",
        "Written by `python -m tests.parity.coverage` from the service descriptors, the code and the",
        f"{seen.scenarios} scenarios that run on the reference server and on ours with equal results. A ✓ means that",
        "a scenario sends the field or the command, or records the event.",
        "",
        "## Events",
        "",
        "| event | |",
        "|---|---|",
        *(f"| {name} | {_mark(name, seen.events)} |" for name in event_types()),
        "",
        "## Commands",
        "",
        "| command | |",
        "|---|---|",
        *(f"| {name} | {_mark(name, seen.commands)} |" for name in command_types()),
        "",
        "## Requests",
        "",
        "| method | field | what becomes of it | |",
        "|---|---|---|---|",
    ]
    for _, method, request in implemented():
        for descriptor in request.fields:
            mark = "✓" if descriptor.name in seen.fields.get(method, ()) else ""
            lines.append(f"| {method} | {descriptor.name} | {fate(method, descriptor.name)} | {mark} |")
    return "\n".join(lines) + "\n"


def _mark(name: str, seen: set[str]) -> str:
    if name in seen:
        return "✓"
    if _STAGE_2 in name:
        return "later: stage 2"
    return f"later: {LATER[name]}" if name in LATER else "**not covered**"


def event_types() -> list[str]:
    return [
        name.removeprefix("EVENT_TYPE_") for name, _ in EventType.items() if not name.endswith("UNSPECIFIED")
    ]


def command_types() -> list[str]:
    return [
        name.removeprefix("COMMAND_TYPE_")
        for name, _ in CommandType.items()
        if not name.endswith("UNSPECIFIED")
    ]


def main() -> None:
    """Run the scenarios on our server and write the page."""
    server = start_ours()
    try:
        seen = asyncio.run(_run(server.address))
    finally:
        server.stop()
    PAGE.write_text(page(seen))
    print(
        f"{PAGE.name}: {seen.scenarios} scenarios, {len(seen.events)} events, {len(seen.commands)} commands"
    )


if __name__ == "__main__":
    main()
