"""Each way of losing something across a kill is found; a history that kept everything has no findings against it."""

import copy

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent

from perdure.demo.survival import findings
from perdure.demo.workflows import Attempt

SECOND = 10**9


def event(event_id: int, name: str, seconds: float = 0.0) -> HistoryEvent:
    made = HistoryEvent(event_id=event_id, event_type=EventType.Value(f"EVENT_TYPE_{name}"))
    made.event_time.FromNanoseconds(int(seconds * SECOND))
    return made


def timer(event_id: int) -> HistoryEvent:
    made = event(event_id, "TIMER_STARTED", 10)
    made.timer_started_event_attributes.start_to_fire_timeout.FromSeconds(6)
    return made


def fired(event_id: int, started: int, seconds: float) -> HistoryEvent:
    made = event(event_id, "TIMER_FIRED", seconds)
    made.timer_fired_event_attributes.started_event_id = started
    return made


BEFORE = [event(1, "WORKFLOW_EXECUTION_STARTED"), event(2, "WORKFLOW_EXECUTION_SIGNALED"), timer(3)]
AFTER = [
    *BEFORE,
    fired(4, started=3, seconds=16.2),
    event(5, "CHILD_WORKFLOW_EXECUTION_COMPLETED"),
    event(6, "WORKFLOW_EXECUTION_COMPLETED"),
]
ATTEMPTS = [
    Attempt("reserve_stock", 1, False),
    Attempt("reserve_stock", 2, True),
    Attempt("charge_card", 1, False),
    Attempt("charge_card", 2, False),
    Attempt("charge_card", 3, True),
    Attempt("book_courier", 1, False),
    Attempt("book_courier", 2, True),
]
ATTEMPTS_BEFORE = 4


def lost(after: list[HistoryEvent], attempts: list[Attempt]) -> list[str]:
    return [found.text for found in findings(BEFORE, after, attempts, ATTEMPTS_BEFORE) if not found.held]


def test_nothing_is_held_against_a_history_that_kept_everything():
    assert lost(AFTER, ATTEMPTS) == []


def test_the_attempts_are_told_apart_by_the_kill():
    texts = [found.text for found in findings(BEFORE, AFTER, ATTEMPTS, ATTEMPTS_BEFORE)]
    assert "charge_card: attempts before the kill: 1, 2; after it: 3" in texts
    assert "book_courier: attempts before the kill: none; after it: 1, 2" in texts


def test_a_changed_event_is_found():
    after = copy.deepcopy(AFTER)
    after[1].event_time.FromSeconds(99)
    (text,) = lost(after, ATTEMPTS)
    assert "not the beginning" in text


def test_a_lost_event_is_found():
    assert any("gap" in text for text in lost([AFTER[0], *AFTER[2:]], ATTEMPTS))


def test_a_signal_told_twice_is_found():
    twice = [*AFTER, event(7, "WORKFLOW_EXECUTION_SIGNALED")]
    assert lost(twice, ATTEMPTS) == ["the signal acknowledged before the kill is in the history 2 times"]


@pytest.mark.parametrize("index", range(len(ATTEMPTS)))
def test_an_attempt_given_twice_or_never_is_found(index):
    repeated = [*ATTEMPTS[: index + 1], *ATTEMPTS[index:]]
    skipped = [*ATTEMPTS[:index], *ATTEMPTS[index + 1 :]]
    for attempts in (repeated, skipped):
        (text,) = lost(AFTER, attempts)
        assert text.startswith(ATTEMPTS[index].activity)


def test_a_timer_that_fired_early_is_found():
    early = [*AFTER[:3], fired(4, started=3, seconds=15.9), *AFTER[4:]]
    (text,) = lost(early, ATTEMPTS)
    assert "fired 5.90 s after" in text


def test_a_timer_that_never_fired_is_found():
    never = [*AFTER[:3], event(4, "TIMER_CANCELED"), *AFTER[4:]]
    assert lost(never, ATTEMPTS) == ["the timer that was started before the kill never fired"]


def test_an_order_without_its_child_is_found():
    without = [*AFTER[:4], event(5, "MARKER_RECORDED"), AFTER[5]]
    assert lost(without, ATTEMPTS) == ["the child workflow completed never, the order once"]
