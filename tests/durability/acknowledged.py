"""Rules that compare what the server kept with what the driver knows: nothing acknowledged is lost, nothing acts twice.

What does not live here: rules about one history in itself (structure.py).
A newcomer's mistake: to demand an event for an acknowledged failure of an activity. Its retry leaves a count only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from temporalio.api.command.v1 import Command
from temporalio.api.enums.v1 import CommandType, EventType
from temporalio.api.history.v1 import HistoryEvent

from tests.durability.decider import text_of
from tests.durability.evidence import Evidence, RunKey
from tests.durability.ledger import ActivityAttempt, Heartbeats, Outcome
from tests.durability.structure import ACTIVITY_ENDS, attributes_of

EVENT_OF_COMMAND: Mapping[int, int] = {
    CommandType.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK: EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
    CommandType.COMMAND_TYPE_START_TIMER: EventType.EVENT_TYPE_TIMER_STARTED,
    CommandType.COMMAND_TYPE_CANCEL_TIMER: EventType.EVENT_TYPE_TIMER_CANCELED,
    CommandType.COMMAND_TYPE_RECORD_MARKER: EventType.EVENT_TYPE_MARKER_RECORDED,
    CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION: EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
    CommandType.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION: (
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW
    ),
}


def check_count(what: str, outcome: Outcome, count: int) -> Iterator[str]:
    """Hold how often a request acted against what is known of it."""
    if outcome is Outcome.ACKNOWLEDGED and count != 1:
        yield f"{what} was acknowledged and acted {count} times"
    elif outcome is Outcome.REFUSED and count != 0:
        yield f"{what} was refused and acted {count} times"
    elif count > 1:
        yield f"{what} was not acknowledged and acted {count} times"


def check_starts(evidence: Evidence) -> Iterator[str]:
    """Each start began one chain of runs, and no run exists that no start explains."""
    first_runs: Counter[str] = Counter()
    for history in evidence.histories.values():
        attributes = history[0].workflow_execution_started_event_attributes if history else None
        if attributes is not None and not attributes.continued_execution_run_id:
            first_runs[text_of(attributes.input)] += 1
    runs = Counter((start.workflow_id, start.run_id) for start in evidence.ledger.starts if start.run_id)
    for start in evidence.ledger.starts:
        outcome = Outcome.ACKNOWLEDGED if start.run_id else Outcome.UNKNOWN
        yield from check_count(f"start {start.request_id}", outcome, first_runs[start.request_id])
        if runs[start.workflow_id, start.run_id] > 1:
            yield f"start {start.request_id} shares run {start.run_id} with another start"
    unexplained = evidence.ledger.runs_seen - evidence.histories.keys()
    yield from (
        f"run {run} was given to a worker, but no acknowledged start explains it" for run in unexplained
    )
    if evidence.listed is not None:
        yield from (f"run {run} is not listed" for run in evidence.histories.keys() - evidence.listed)
        yield from (
            f"run {run} is listed but unexplained" for run in evidence.listed - evidence.histories.keys()
        )


def check_signals(evidence: Evidence) -> Iterator[str]:
    """Each signal is there as often as it should be, in the order in which they were sent."""
    found: dict[str, list[int]] = {}
    for (workflow_id, _), history in evidence.histories.items():
        for event in history:
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
                number = int(text_of(event.workflow_execution_signaled_event_attributes.input))
                found.setdefault(workflow_id, []).append(number)
    counts = {workflow_id: Counter(numbers) for workflow_id, numbers in found.items()}
    for signal in evidence.ledger.signals:
        count = counts.get(signal.workflow_id, Counter())[signal.number]
        yield from check_count(f"signal {signal.number} to {signal.workflow_id}", signal.outcome, count)
    sent = {(signal.workflow_id, signal.number) for signal in evidence.ledger.signals}
    for workflow_id, numbers in found.items():
        if numbers != sorted(numbers):
            yield f"signals to {workflow_id} are out of order: {numbers}"
        yield from (
            f"signal {n} to {workflow_id} was never sent" for n in numbers if (workflow_id, n) not in sent
        )


def check_task_answers(evidence: Evidence) -> Iterator[str]:
    """Each answer to a workflow task is there as often as it should be, with the events of its commands."""
    completed: dict[str, list[tuple[RunKey, HistoryEvent]]] = {}
    failed: Counter[str] = Counter()
    for run, history in evidence.histories.items():
        for event in history:
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
                mark = event.workflow_task_completed_event_attributes.identity
                completed.setdefault(mark, []).append((run, event))
            elif event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED:
                failed[event.workflow_task_failed_event_attributes.failure.message] += 1
    for answer in evidence.ledger.task_answers:
        found = completed.pop(answer.mark, [])
        count = failed[answer.mark] if answer.fails else len(found)
        yield from check_count(f"answer {answer.mark} to a workflow task", answer.outcome, count)
        for run, event in found:
            if run != (answer.workflow_id, answer.run_id):
                yield f"answer {answer.mark} acted on {run} instead of {answer.run_id}"
            yield from _check_commands(evidence.histories[run], event, answer.commands)
    yield from (f"workflow task answer {mark!r} was never sent" for mark in completed)


def _check_commands(
    history: list[HistoryEvent], answer: HistoryEvent, commands: Sequence[Command]
) -> Iterator[str]:
    caused = [
        event.event_type
        for event in history
        if getattr(attributes_of(event), "workflow_task_completed_event_id", 0) == answer.event_id
    ]
    wanted = [EVENT_OF_COMMAND[command.command_type] for command in commands]
    if caused != wanted:
        names = [EventType.Name(kind) for kind in caused]
        yield f"the {len(wanted)} commands of the answer at event {answer.event_id} left {names}"


def check_activity_answers(evidence: Evidence) -> Iterator[str]:
    """Each answer to an activity is there as often as it should be; a failure that is retried moves the attempt on."""
    ends: dict[str, list[tuple[str, str]]] = {}
    attempts: dict[tuple[str, str], int] = {}
    for (_, run_id), history in evidence.histories.items():
        for activity_id, mark, attempt in _activity_ends(history):
            ends.setdefault(mark, []).append((run_id, activity_id))
            attempts[run_id, activity_id] = attempt
    for answer in evidence.ledger.activity_answers:
        found = ends.pop(answer.mark, [])
        key = (answer.run_id, answer.activity_id)
        yield from (f"answer {answer.mark} to {key} ended {end}" for end in found if end != key)
        if not answer.fails:
            yield from check_count(f"answer {answer.mark} to an activity", answer.outcome, len(found))
        elif len(found) > 1:
            yield f"failure {answer.mark} of an activity acted {len(found)} times"
        elif (
            answer.outcome is Outcome.ACKNOWLEDGED
            and not found
            and attempts.get(key, answer.attempt + 1) <= answer.attempt
        ):
            yield f"failure {answer.mark} of attempt {answer.attempt} of {key} was acknowledged and lost"
    yield from (f"activity answer {mark!r} was never sent" for mark in ends if mark)


def _activity_ends(history: list[HistoryEvent]) -> Iterator[tuple[str, str, int]]:
    """Yield ID, mark and attempt of every activity that ended; a time-out has no mark."""
    by_id = {event.event_id: event for event in history}
    for event in history:
        if event.event_type not in ACTIVITY_ENDS:
            continue
        mark = text_of(event.activity_task_completed_event_attributes.result)
        mark = mark or event.activity_task_failed_event_attributes.failure.message
        attributes = attributes_of(event)
        scheduled = by_id.get(getattr(attributes, "scheduled_event_id", 0), HistoryEvent())
        started = by_id.get(getattr(attributes, "started_event_id", 0), HistoryEvent())
        yield (
            scheduled.activity_task_scheduled_event_attributes.activity_id,
            mark,
            started.activity_task_started_event_attributes.attempt,
        )


def check_deliveries(evidence: Evidence) -> Iterator[str]:
    """Each workflow task and each attempt of an activity was given to one worker."""
    for task, count in evidence.ledger.workflow_tasks.items():
        if count > 1:
            yield f"{task} was given to {count} workers"
    for attempt, count in evidence.ledger.activity_attempts.items():
        if count > 1:
            yield f"{attempt} was given to {count} workers"


def check_details(
    heartbeats: Mapping[ActivityAttempt, Heartbeats], attempt: ActivityAttempt, details: str
) -> Iterator[str]:
    """Hold the details that came with an attempt against the heartbeats that earlier attempts had acknowledged."""
    given = tuple(int(part) for part in details.split("-")) if details else (0, 0)
    for earlier in range(1, attempt.attempt):
        beats = heartbeats.get(ActivityAttempt(attempt.run_id, attempt.activity_id, earlier), Heartbeats())
        if beats.acknowledged and given < (earlier, beats.acknowledged):
            yield f"{attempt}: lost the heartbeat {earlier}-{beats.acknowledged}, got {details!r}"
        if given[0] == earlier and given[1] > beats.sent:
            yield f"{attempt}: got details {details!r} that were never sent"
    if given[0] >= attempt.attempt:
        yield f"{attempt}: got details {details!r} of an attempt to come"
