"""The table at the head of each machine's file is what the machine does: the same events, from the same states."""

import re
from importlib import import_module

import pytest
from temporalio.api.enums.v1 import EventType

from durable_core.engine import replay

NAMES = ("activity", "child_workflow", "execution", "external", "timer", "update", "workflow_task")
ROW = re.compile(
    r"^ *(?P<state>-|[a-z]+) +(?P<event>[A-Z]\w+)(?: \([^)]*\))? +(?P<next>[a-z]+)", re.MULTILINE
)


def event_type(name):
    words = re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper()
    return EventType.Value(f"EVENT_TYPE_{words}")


def machine(name):
    return import_module(f"durable_core.machines.{name}")


@pytest.mark.parametrize("name", NAMES)
def test_the_table_names_the_events_that_the_machine_knows_and_no_other(name):
    rows = [match["event"] for match in ROW.finditer(machine(name).__doc__)]
    assert {event_type(event) for event in rows} == set(machine(name).APPLY)


def test_an_event_belongs_to_one_machine():
    known = [event for name in NAMES for event in machine(name).APPLY]
    assert len(known) == len(set(known))
    assert set(known) == set(replay.APPLY)
