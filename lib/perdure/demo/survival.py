"""What must have outlived the kill, checked against what was seen before it.

A pure comparison: two histories and the attempts that the worker saw go in, findings come out. It asks no server.

The one thing a newcomer gets wrong: a finished workflow proves little, since a server that forgot everything and
ran the order anew would finish it too. What proves it is the history before the kill being, event for event, the
beginning of the history after it, and no activity attempt being given out twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent

from perdure.demo.workflows import ATTEMPTS_NEEDED, Attempt


@dataclass(frozen=True)
class Finding:
    """One thing that was checked, and whether it held."""

    held: bool
    text: str


def findings(
    before: Sequence[HistoryEvent],
    after: Sequence[HistoryEvent],
    attempts: Sequence[Attempt],
    attempts_before: int,
) -> list[Finding]:
    """Everything checked, in the order of the story; `attempts_before` of the attempts were seen before the kill."""
    return [
        _history_kept(before, after),
        _numbered_without_gap(after),
        _signal_once(after),
        *(_attempts_in_order(name, attempts, attempts_before) for name in ATTEMPTS_NEEDED),
        _timer_not_early(before, after),
        _completed(after),
    ]


def _history_kept(before: Sequence[HistoryEvent], after: Sequence[HistoryEvent]) -> Finding:
    kept = list(before) == list(after[: len(before)])
    return Finding(
        kept,
        f"{len(before)} events were there before the kill, unchanged after it; {len(after) - len(before)} came later"
        if kept
        else f"the {len(before)} events from before the kill are not the beginning of the {len(after)} after it",
    )


def _numbered_without_gap(after: Sequence[HistoryEvent]) -> Finding:
    held = [event.event_id for event in after] == list(range(1, len(after) + 1))
    return Finding(
        held, f"event IDs run from 1 to {len(after)} without a gap" if held else "the event IDs have a gap"
    )


def _signal_once(after: Sequence[HistoryEvent]) -> Finding:
    count = _count(after, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED)
    return Finding(count == 1, f"the signal acknowledged before the kill is in the history {_times(count)}")


def _attempts_in_order(name: str, attempts: Sequence[Attempt], attempts_before: int) -> Finding:
    needed = list(range(1, ATTEMPTS_NEEDED[name] + 1))
    numbers = [attempt.number for attempt in attempts if attempt.activity == name]
    earlier = sum(attempt.activity == name for attempt in attempts[:attempts_before])
    said = ", ".join(str(number) for number in numbers[:earlier]) or "none"
    then = ", ".join(str(number) for number in numbers[earlier:]) or "none"
    return Finding(numbers == needed, f"{name}: attempts before the kill: {said}; after it: {then}")


def _timer_not_early(before: Sequence[HistoryEvent], after: Sequence[HistoryEvent]) -> Finding:
    """The timer that ran during the kill fired when it was due, counted from its start in the server's first life."""
    fired = {
        event.timer_fired_event_attributes.started_event_id: event.event_time.ToNanoseconds()
        for event in after
        if event.event_type == EventType.EVENT_TYPE_TIMER_FIRED
    }
    for event in before:
        if event.event_type == EventType.EVENT_TYPE_TIMER_STARTED and event.event_id in fired:
            wanted = event.timer_started_event_attributes.start_to_fire_timeout.ToNanoseconds()
            took = fired[event.event_id] - event.event_time.ToNanoseconds()
            text = f"the {wanted / 1e9:g} s timer started before the kill fired {took / 1e9:.2f} s after its start"
            return Finding(took >= wanted, text)
    return Finding(False, "the timer that was started before the kill never fired")


def _completed(after: Sequence[HistoryEvent]) -> Finding:
    children = _count(after, EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED)
    completed = _count(after, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED)
    text = f"the child workflow completed {_times(children)}, the order {_times(completed)}"
    return Finding((children, completed) == (1, 1), text)


def _count(events: Sequence[HistoryEvent], event_type: EventType.ValueType) -> int:
    return sum(event.event_type == event_type for event in events)


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{count} times")
