"""Print what one server shows for scenarios: `python -m tests.parity.show ADDRESS NAME...`.

Here lives the tool for looking at the reference server's behaviour while building; the comparison itself is
`test_parity`. Newcomers forget that a scenario's IDs are fixed: the process ID is added to its name here, so
that it can be run again.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from .scenarios import load_all
from .test_parity import observe


def main(address: str, names: list[str]) -> None:
    """Run each named scenario and print its observation as JSON."""
    scenarios = load_all()
    for name in names or list(scenarios):
        observation = asyncio.run(observe(f"{name}-{os.getpid()}", scenarios[name], address))
        print(f"### {name}")
        for label, value in observation["notes"].items():
            print(f"{label}: {_compact(value)}")
        for label, events in observation["histories"].items():
            print(f"history {label}")
            for event in events:
                print("  " + _event_line(event))
        print(observation.get("raised", ""))


def _compact(value: Any) -> str:
    if isinstance(value, dict) and "history" in value:
        events = "".join("\n    " + _event_line(event) for event in value["history"]["events"])
        rest = {key: item for key, item in value.items() if key != "history"}
        return json.dumps(rest, ensure_ascii=False) + events
    return json.dumps(value, ensure_ascii=False)


def _event_line(event: dict[str, Any]) -> str:
    rest = {
        key: item for key, item in event.items() if key not in {"eventId", "eventTime", "eventType", "taskId"}
    }
    name = event["eventType"].removeprefix("EVENT_TYPE_")
    return f"{event['eventId']} {name} {json.dumps(rest, ensure_ascii=False)}"


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
