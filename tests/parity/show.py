"""Print what the reference server shows for scenarios: `python -m tests.parity.show NAME...`, or all of them.

Here lives the tool for looking at the reference server's behaviour while building; the comparison itself is
`comparing`. Newcomers forget that scenarios' IDs are fixed: each look needs a fresh server, and gets one.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from .comparing import observe
from .scenarios import load_all
from .servers import start_oracle


def main(names: list[str]) -> None:
    """Run each named scenario and print its observation, an event a line."""
    scenarios = load_all()
    server = start_oracle()
    try:
        for name in names or list(scenarios):
            _print(name, asyncio.run(observe(name, scenarios[name], server.address)))
    finally:
        server.stop()


def _print(name: str, observation: dict[str, Any]) -> None:
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
        events = "".join("\n    " + _event_line(event) for event in value["history"].get("events", []))
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
    main(sys.argv[1:])
