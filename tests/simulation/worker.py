"""A workflow that does a bit of everything, and what its worker answers to any history of it.

The answer follows from the history alone, so it does not matter which task comes first, twice or late.
"""

from collections import Counter
from collections.abc import Sequence

from google.protobuf.duration_pb2 import Duration
from temporalio.api.command.v1 import Command
from temporalio.api.enums.v1 import EventType as T
from temporalio.api.history.v1 import HistoryEvent

from tests.properties import commands

SIGNALS = 3
FROM_OUTSIDE = "from outside"
_TERMINATE = 1
_ABANDON = 2
_NONE = Duration()


def answer(workflow_id: str, events: Sequence[HistoryEvent]) -> list[Command]:
    """The commands for a history.

    A child (`kid-…`) only completes; `c` begins with a run that goes on as a new one; `d` runs until it is terminated.
    """
    if workflow_id.startswith("kid-"):
        return [commands.complete_workflow()]
    started = events[0].workflow_execution_started_event_attributes
    if workflow_id == "c" and not started.continued_execution_run_id:
        return [commands.continue_as_new(_NONE)]
    if not any(event.event_type == T.EVENT_TYPE_TIMER_STARTED for event in events):
        return _begin(workflow_id)
    if workflow_id == "d" or not _is_done(workflow_id, events):
        return []
    return [commands.complete_workflow()]


def _begin(workflow_id: str) -> list[Command]:
    minute = Duration(seconds=60)
    if workflow_id == "d":
        return [commands.start_timer("t", minute), commands.start_child("kid-d", _TERMINATE, _NONE)]
    return [
        commands.schedule_activity("x", minute),
        commands.schedule_activity("y", Duration(seconds=5), heartbeat=Duration(seconds=2)),
        commands.start_timer("t", Duration(seconds=3)),
        commands.start_child(f"kid-{workflow_id}", _ABANDON, _NONE),
        commands.signal_external("b" if workflow_id == "a" else "a"),
    ]


def _is_done(workflow_id: str, events: Sequence[HistoryEvent]) -> bool:
    seen = Counter(event.event_type for event in events)
    signals = [
        event.workflow_execution_signaled_event_attributes.signal_name
        for event in events
        if event.event_type == T.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
    ]
    return (
        seen[T.EVENT_TYPE_ACTIVITY_TASK_COMPLETED] == 2
        and seen[T.EVENT_TYPE_TIMER_FIRED] == 1
        and seen[T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED] == 1
        and (workflow_id == "c" or signals.count(FROM_OUTSIDE) == SIGNALS)
        and seen[T.EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_SIGNALED]
        + seen[T.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED]
        == 1
    )
