"""Proves that the checker can fail: a legal story passes, and each doctored one is found out for its reason.

What does not live here: the story (legal.py).
A newcomer's mistake: to add a rule without a doctored history. A rule that nothing has broken may check nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from temporalio.api.enums.v1 import EventType, WorkflowExecutionStatus
from temporalio.api.history.v1 import HistoryEvent

from tests.durability import decider, legal
from tests.durability.acknowledged import check_details
from tests.durability.checker import check
from tests.durability.evidence import Description, Evidence, RunKey
from tests.durability.ledger import ActivityAttempt, Heartbeats, Outcome, WorkflowTaskKey

Doctor = Callable[[Evidence], object]


def event_of(evidence: Evidence, kind: EventType.ValueType, run: RunKey = legal.FIRST) -> HistoryEvent:
    return next(event for event in evidence.histories[run] if event.event_type == kind)


def without(evidence: Evidence, run: RunKey, *kinds: EventType.ValueType) -> None:
    """Remove events and close the gap that they leave, as a server would that lost them before it wrote."""
    kept = [event for event in evidence.histories[run] if event.event_type not in kinds]
    evidence.histories[run] = kept
    redescribe(evidence, run)


def append(evidence: Evidence, run: RunKey, event: HistoryEvent) -> None:
    copy = HistoryEvent()
    copy.CopyFrom(event)
    copy.event_id = len(evidence.histories[run]) + 1
    evidence.histories[run].append(copy)
    redescribe(evidence, run)


def insert_again(evidence: Evidence, run: RunKey, kind: EventType.ValueType) -> None:
    """Repeat an event just before the closing one."""
    history = evidence.histories[run]
    closing = history.pop()
    append(evidence, run, event_of(evidence, kind, run))
    append(evidence, run, closing)


def redescribe(evidence: Evidence, run: RunKey) -> None:
    status = evidence.descriptions[run].status
    evidence.descriptions[run] = Description(status, len(evidence.histories[run]))


def drop_event_in_the_middle(evidence: Evidence) -> None:
    del evidence.histories[legal.FIRST][6]
    redescribe(evidence, legal.FIRST)


def fire_early(evidence: Evidence) -> None:
    started = event_of(evidence, EventType.EVENT_TYPE_TIMER_STARTED)
    event_of(evidence, EventType.EVENT_TYPE_TIMER_FIRED).event_time.CopyFrom(started.event_time)


def overlap(evidence: Evidence) -> None:
    for event in evidence.histories[legal.SECOND]:
        event.event_time.FromDatetime(legal.BEGINNING)


def refer_forward(evidence: Evidence) -> None:
    started = event_of(evidence, EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED)
    started.workflow_task_started_event_attributes.scheduled_event_id = 12


def refer_to_another_kind(evidence: Evidence) -> None:
    completed = event_of(evidence, EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED)
    completed.activity_task_completed_event_attributes.scheduled_event_id = 3


def refer_to_no_completion(evidence: Evidence) -> None:
    timer = event_of(evidence, EventType.EVENT_TYPE_TIMER_STARTED)
    timer.timer_started_event_attributes.workflow_task_completed_event_id = 4


def complete_with_unsent_result(evidence: Evidence) -> None:
    completed = event_of(evidence, EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED)
    completed.activity_task_completed_event_attributes.result.CopyFrom(decider.payloads("activity-99"))


def forget_the_failed_attempt(evidence: Evidence) -> None:
    started = event_of(evidence, EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED)
    started.activity_task_started_event_attributes.attempt = 1


def swap_signals(evidence: Evidence) -> None:
    for run, number in ((legal.FIRST, "2"), (legal.SECOND, "1")):
        signaled = event_of(evidence, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, run)
        signaled.workflow_execution_signaled_event_attributes.input.CopyFrom(decider.payloads(number))


def never_close(evidence: Evidence) -> None:
    without(evidence, legal.SECOND, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED)
    status = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING
    evidence.descriptions[legal.SECOND] = Description(status, len(evidence.histories[legal.SECOND]))


def schedule_two_tasks_at_once(evidence: Evidence) -> None:
    history = evidence.histories[legal.SECOND]
    history.insert(3, HistoryEvent(event_type=EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED))
    history[3].event_time.FromDatetime(legal.BEGINNING)
    for number, event in enumerate(history, 1):
        event.event_id = number
    redescribe(evidence, legal.SECOND)


def start_the_same_twice(evidence: Evidence) -> None:
    twin = (legal.WORKFLOW, "run-3")
    evidence.histories[twin] = legal.first_run()
    evidence.descriptions[twin] = evidence.descriptions[legal.FIRST]


def lose_a_marker(evidence: Evidence) -> None:
    evidence.ledger.task_answers[0].commands = [
        *evidence.ledger.task_answers[0].commands,
        decider.record_marker("task-1"),
    ]


def answer_another_run(evidence: Evidence) -> None:
    evidence.ledger.task_answers[2].run_id = "run-1"


def refuse_what_acted(evidence: Evidence) -> None:
    evidence.ledger.signals[0].outcome = Outcome.REFUSED


def deliver_a_workflow_task_twice(evidence: Evidence) -> None:
    evidence.ledger.workflow_tasks[WorkflowTaskKey("run-1", 4, 1)] += 1


def deliver_an_activity_twice(evidence: Evidence) -> None:
    evidence.ledger.activity_attempts[ActivityAttempt("run-1", "task-1-a0", 2)] += 1


def complete_an_activity_by_two_answers(evidence: Evidence) -> None:
    first = evidence.ledger.activity_answers[0]
    first.fails = False


DOCTORED: list[tuple[str, Doctor, str]] = [
    ("a gap in the event IDs", drop_event_in_the_middle, "event IDs are not 1.."),
    (
        "an acknowledged signal is lost",
        lambda e: without(e, legal.SECOND, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED),
        "signal 2 to durable-0 was acknowledged and acted 0 times",
    ),
    (
        "a signal acts twice",
        lambda e: insert_again(e, legal.FIRST, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED),
        "signal 1 to durable-0 was acknowledged and acted 2 times",
    ),
    ("signals change places", swap_signals, "out of order"),
    ("a refused signal acts", refuse_what_acted, "was refused and acted 1 times"),
    ("a signal nobody sent", lambda e: e.ledger.signals.pop(), "signal 2 to durable-0 was never sent"),
    ("a run that never closes", never_close, "the run never closes"),
    (
        "an event after the closing one",
        lambda e: append(
            e, legal.SECOND, event_of(e, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, legal.SECOND)
        ),
        "closing events [6], but the last event is 7",
    ),
    (
        "two closing events",
        lambda e: append(
            e, legal.SECOND, event_of(e, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, legal.SECOND)
        ),
        "closing events [6, 7]",
    ),
    ("a timer fires early", fire_early, "fired after 0:00:00"),
    (
        "a timer ends twice",
        lambda e: insert_again(e, legal.FIRST, EventType.EVENT_TYPE_TIMER_FIRED),
        "timer 7 has 2 ends",
    ),
    (
        "an activity ends twice",
        lambda e: insert_again(e, legal.FIRST, EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED),
        "activity 6 has 2 ends",
    ),
    (
        "an activity starts twice",
        lambda e: insert_again(e, legal.FIRST, EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED),
        "activity 6 has 2 starts",
    ),
    (
        "an activity is scheduled twice",
        lambda e: insert_again(e, legal.FIRST, EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED),
        "activity ID task-1-a0 was scheduled 2 times",
    ),
    (
        "an acknowledged completion of an activity is lost",
        lambda e: without(e, legal.FIRST, EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED),
        "answer activity-2 to an activity was acknowledged and acted 0 times",
    ),
    (
        "an activity ends with what nobody sent",
        complete_with_unsent_result,
        "activity answer 'activity-99' was never sent",
    ),
    (
        "two answers of one activity are acknowledged",
        complete_an_activity_by_two_answers,
        "activity-1 to an activity",
    ),
    ("a failed attempt is forgotten", forget_the_failed_attempt, "was acknowledged and lost"),
    (
        "a workflow task is completed twice",
        lambda e: insert_again(e, legal.FIRST, EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED),
        "workflow task 3 has 2 ends",
    ),
    (
        "a workflow task starts twice",
        lambda e: insert_again(e, legal.FIRST, EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED),
        "workflow task 3 has 2 starts",
    ),
    (
        "an acknowledged completion of a workflow task is lost",
        lambda e: without(e, legal.SECOND, EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED),
        "answer task-3 to a workflow task was acknowledged and acted 0 times",
    ),
    ("two workflow tasks at once", schedule_two_tasks_at_once, "is scheduled while"),
    ("a workflow task's answer acts on another run", answer_another_run, "answer task-3 acted on"),
    (
        "a workflow task's answer nobody sent",
        lambda e: e.ledger.task_answers.pop(),
        "'task-3' was never sent",
    ),
    ("a command leaves no event", lose_a_marker, "the 3 commands of the answer"),
    ("a started event before its scheduled one", refer_forward, "scheduled_event_id 12 is no earlier"),
    (
        "a reference to an event of another kind",
        refer_to_another_kind,
        "is no earlier EVENT_TYPE_ACTIVITY_TASK_SCHEDULED",
    ),
    (
        "an event caused by no completed workflow task",
        refer_to_no_completion,
        "event 4 is no completed workflow task",
    ),
    (
        "a run starts twice",
        lambda e: insert_again(e, legal.SECOND, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED),
        "the run starts at events [1, 6]",
    ),
    ("two runs open at once", overlap, "before the run before it closes"),
    (
        "an acknowledged run is lost",
        lambda e: e.histories[legal.FIRST].clear(),
        "start-1 was acknowledged and acted 0 times",
    ),
    ("a start acts twice", start_the_same_twice, "start start-1 was acknowledged and acted 2 times"),
    ("a run that no start explains", lambda e: e.ledger.runs_seen.add((legal.WORKFLOW, "run-9")), "run-9"),
    ("a run that is not listed", lambda e: (e.listed or set()).discard(legal.SECOND), "is not listed"),
    (
        "a listed run that no start explains",
        lambda e: (e.listed or set()).add((legal.WORKFLOW, "run-9")),
        "is listed but",
    ),
    ("a workflow task is given to two workers", deliver_a_workflow_task_twice, "was given to 2 workers"),
    ("an attempt is given to two workers", deliver_an_activity_twice, "was given to 2 workers"),
    ("a description with another length", lambda e: e.histories[legal.FIRST].pop(), "described with"),
    (
        "an answer that no correct server gives",
        lambda e: e.ledger.surprises.append("lost heartbeat"),
        "lost heartbeat",
    ),
]


def test_a_legal_story_has_no_violations() -> None:
    assert check(legal.evidence()) == []


@pytest.mark.parametrize(
    "doctor, finding", [case[1:] for case in DOCTORED], ids=[case[0] for case in DOCTORED]
)
def test_a_doctored_story_is_found_out(doctor: Doctor, finding: str) -> None:
    evidence = legal.evidence()
    doctor(evidence)
    assert any(finding in violation for violation in check(evidence)), check(evidence)


def test_a_request_without_acknowledgement_may_act_once_or_never() -> None:
    evidence = legal.evidence()
    evidence.ledger.signals[1].outcome = Outcome.UNKNOWN
    assert check(evidence) == []
    without(evidence, legal.SECOND, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED)
    assert not [violation for violation in check(evidence) if "signal" in violation]


@pytest.mark.parametrize(
    "details, finding",
    [
        ("", "lost the heartbeat 2-3"),
        ("2-2", "lost the heartbeat 2-3"),
        ("2-9", "never sent"),
        ("3-1", "to come"),
    ],
)
def test_details_that_do_not_follow_from_the_heartbeats_are_found_out(details: str, finding: str) -> None:
    heartbeats = {ActivityAttempt("run-1", "a", 2): Heartbeats(sent=4, acknowledged=3)}
    found = list(check_details(heartbeats, ActivityAttempt("run-1", "a", 3), details))
    assert any(finding in violation for violation in found), found


@pytest.mark.parametrize("details", ["2-3", "2-4"])
def test_the_last_acknowledged_heartbeat_or_a_later_one_is_right(details: str) -> None:
    heartbeats = {ActivityAttempt("run-1", "a", 2): Heartbeats(sent=4, acknowledged=3)}
    assert list(check_details(heartbeats, ActivityAttempt("run-1", "a", 3), details)) == []
