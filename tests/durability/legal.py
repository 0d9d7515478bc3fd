"""A small legal story, with its ledger, for the tests of the checker to doctor.

What does not live here: the doctoring (test_checker.py).
A newcomer's mistake: to let the story grow. It holds one of each thing that a rule speaks of, and no more.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

from temporalio.api.enums.v1 import EventType, WorkflowExecutionStatus
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import HistoryEvent

from tests.durability import decider
from tests.durability.evidence import Description, Evidence
from tests.durability.ledger import (
    ActivityAnswer,
    ActivityAttempt,
    Ledger,
    Outcome,
    Signal,
    Start,
    TaskAnswer,
    WorkflowTaskKey,
)

WORKFLOW = "durable-0"
FIRST, SECOND = (WORKFLOW, "run-1"), (WORKFLOW, "run-2")
BEGINNING = datetime(2024, 1, 1, tzinfo=UTC)
STEP = timedelta(milliseconds=10)
TIMER_MS = 25


class Writer:
    """Appends events to a history, numbering and dating them."""

    def __init__(self, begins: datetime) -> None:
        self.events: list[HistoryEvent] = []
        self.now = begins

    def add(self, kind: EventType.ValueType) -> HistoryEvent:
        """Append an empty event of a kind and return it, for its attributes to be filled in."""
        event = HistoryEvent(event_id=len(self.events) + 1, event_type=kind)
        event.event_time.FromDatetime(self.now)
        self.now += STEP
        self.events.append(event)
        return event

    def started(self, request_id: str, continued_from: str = "") -> None:
        attributes = self.add(
            EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED
        ).workflow_execution_started_event_attributes
        attributes.input.CopyFrom(decider.payloads(request_id))
        attributes.continued_execution_run_id = continued_from

    def signaled(self, number: int) -> None:
        event = self.add(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED)
        event.workflow_execution_signaled_event_attributes.input.CopyFrom(decider.payloads(str(number)))

    def workflow_task(self, mark: str) -> int:
        """Append a workflow task that is scheduled, started and completed; return the completion's event ID."""
        scheduled = self.add(EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED).event_id
        started = self.add(EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED)
        started.workflow_task_started_event_attributes.scheduled_event_id = scheduled
        completed = self.add(EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
        attributes = completed.workflow_task_completed_event_attributes
        attributes.scheduled_event_id, attributes.started_event_id = scheduled, started.event_id
        attributes.identity = mark
        return completed.event_id

    def activity_scheduled(self, activity_id: str, cause: int) -> int:
        event = self.add(EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED)
        attributes = event.activity_task_scheduled_event_attributes
        attributes.activity_id, attributes.workflow_task_completed_event_id = activity_id, cause
        return event.event_id

    def activity_started(self, scheduled: int, attempt: int) -> int:
        event = self.add(EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED)
        attributes = event.activity_task_started_event_attributes
        attributes.scheduled_event_id, attributes.attempt = scheduled, attempt
        return event.event_id

    def activity_completed(self, scheduled: int, started: int, mark: str) -> None:
        event = self.add(EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED)
        attributes = event.activity_task_completed_event_attributes
        attributes.scheduled_event_id, attributes.started_event_id = scheduled, started
        attributes.result.CopyFrom(decider.payloads(mark))

    def activity_failed(self, scheduled: int, started: int, mark: str) -> None:
        event = self.add(EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED)
        attributes = event.activity_task_failed_event_attributes
        attributes.scheduled_event_id, attributes.started_event_id = scheduled, started
        attributes.failure.CopyFrom(Failure(message=mark))

    def timer_started(self, timer_id: str, cause: int) -> int:
        event = self.add(EventType.EVENT_TYPE_TIMER_STARTED)
        attributes = event.timer_started_event_attributes
        attributes.timer_id, attributes.workflow_task_completed_event_id = timer_id, cause
        attributes.start_to_fire_timeout.CopyFrom(decider.milliseconds(TIMER_MS))
        return event.event_id

    def timer_fired(self, timer_id: str, started: int) -> None:
        attributes = self.add(EventType.EVENT_TYPE_TIMER_FIRED).timer_fired_event_attributes
        attributes.timer_id, attributes.started_event_id = timer_id, started

    def continued_as_new(self, run_id: str, cause: int) -> None:
        event = self.add(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW)
        attributes = event.workflow_execution_continued_as_new_event_attributes
        attributes.new_execution_run_id, attributes.workflow_task_completed_event_id = run_id, cause

    def completed(self, cause: int) -> None:
        event = self.add(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED)
        event.workflow_execution_completed_event_attributes.workflow_task_completed_event_id = cause


def first_run() -> list[HistoryEvent]:
    """One signal, a retried activity, a timer, continued as new."""
    writer = Writer(BEGINNING)
    writer.started("start-1")
    writer.signaled(1)
    cause = writer.workflow_task("task-1")
    activity = writer.activity_scheduled("task-1-a0", cause)
    timer = writer.timer_started("task-1-t0", cause)
    started = writer.activity_started(activity, attempt=2)
    writer.activity_completed(activity, started, "activity-2")
    writer.timer_fired("task-1-t0", timer)
    cause = writer.workflow_task("task-2")
    writer.continued_as_new("run-2", cause)
    return writer.events


def second_run() -> list[HistoryEvent]:
    """One more signal, and the end."""
    writer = Writer(BEGINNING + timedelta(seconds=1))
    writer.started("task-2", continued_from="run-1")
    writer.signaled(2)
    writer.completed(writer.workflow_task("task-3"))
    return writer.events


def ledger() -> Ledger:
    """What the driver of the story would know; all of it was acknowledged."""
    schedule, start_timer = decider.schedule_activity("task-1-a0"), decider.start_timer("task-1-t0", TIMER_MS)
    known = Outcome.ACKNOWLEDGED
    return Ledger(
        starts=[Start(WORKFLOW, "start-1", "run-1", attempts=1)],
        signals=[Signal(WORKFLOW, number, f"signal-{number}", known, 1) for number in (1, 2)],
        task_answers=[
            TaskAnswer(*FIRST, "task-1", [schedule, start_timer], False, known, 1),
            TaskAnswer(*FIRST, "task-2", [decider.continue_as_new("task-2")], False, known, 1),
            TaskAnswer(*SECOND, "task-3", [decider.complete("task-3")], False, known, 1),
        ],
        activity_answers=[
            ActivityAnswer(*FIRST, "task-1-a0", 1, "activity-1", True, outcome=known, attempts=1),
            ActivityAnswer(*FIRST, "task-1-a0", 2, "activity-2", False, outcome=known, attempts=1),
        ],
        workflow_tasks=Counter([WorkflowTaskKey("run-1", 4, 1)]),
        activity_attempts=Counter(ActivityAttempt("run-1", "task-1-a0", number) for number in (1, 2)),
        runs_seen={FIRST, SECOND},
    )


def evidence() -> Evidence:
    """The whole story: the checker finds nothing wrong with it."""
    histories = {FIRST: first_run(), SECOND: second_run()}
    continued = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW
    completed = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED
    descriptions = {
        FIRST: Description(continued, len(histories[FIRST])),
        SECOND: Description(completed, len(histories[SECOND])),
    }
    return Evidence(ledger(), histories, descriptions, {FIRST, SECOND})
