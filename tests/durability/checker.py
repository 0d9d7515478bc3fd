"""Judges the evidence: applies every rule and returns every violation as a line of text.

What does not live here: the rules about one history (structure.py) and about acknowledgements (acknowledged.py).
A newcomer's mistake: to trust a checker that has never failed. test_checker.py doctors a history for each rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from temporalio.api.enums.v1 import EventType, WorkflowExecutionStatus

from tests.durability.acknowledged import (
    check_activity_answers,
    check_deliveries,
    check_signals,
    check_starts,
    check_task_answers,
)
from tests.durability.evidence import Evidence
from tests.durability.structure import check_structure

STATUS_OF_CLOSING = {
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED: WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW: (
        WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW
    ),
}


def check(evidence: Evidence) -> list[str]:
    """Return every violation; an empty list means that all is well."""
    return list(_violations(evidence))


def _violations(evidence: Evidence) -> Iterator[str]:
    yield from evidence.ledger.surprises
    for (workflow_id, run_id), history in evidence.histories.items():
        for violation in check_structure(history):
            yield f"{workflow_id} {run_id}: {violation}"
    yield from _check_descriptions(evidence)
    yield from _check_one_open_run(evidence)
    for rule in (check_starts, check_signals, check_task_answers, check_activity_answers, check_deliveries):
        yield from rule(evidence)


def _check_descriptions(evidence: Evidence) -> Iterator[str]:
    """The state of a run agrees with its history."""
    for run, history in evidence.histories.items():
        described = evidence.descriptions[run]
        if described.history_length != len(history):
            yield f"{run}: described with {described.history_length} events, but has {len(history)}"
        wanted = STATUS_OF_CLOSING.get(history[-1].event_type) if history else None
        if described.status != wanted:
            yield f"{run}: described with status {described.status} instead of {wanted}"


def _check_one_open_run(evidence: Evidence) -> Iterator[str]:
    """A run of a workflow ID starts when the one before it has closed."""
    closed: dict[str, datetime] = {}
    for (workflow_id, run_id), history in evidence.histories.items():
        if not history:
            continue
        begins, ends = history[0].event_time.ToDatetime(), history[-1].event_time.ToDatetime()
        if workflow_id in closed and begins < closed[workflow_id]:
            yield f"{workflow_id} {run_id} starts at {begins}, before the run before it closes at {closed[workflow_id]}"
        closed[workflow_id] = ends
