"""What is due when for an activity, and what its attempts leave behind."""

import pytest
from temporalio.api.enums.v1 import TimeoutType

from durable_core.machines import activity
from durable_core.model.state import ActivityInfo
from durable_core.model.times import SECOND

TO_START = TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START
TO_CLOSE = TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE
START_TO_CLOSE = TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE
HEARTBEAT = TimeoutType.TIMEOUT_TYPE_HEARTBEAT
SCHEDULED = 1_000 * SECOND


def info(to_close=0, to_start=0, start_to_close=0, heartbeat=0, **facts):
    """Time-outs and moments in seconds; moments count from the scheduling."""
    moments = {
        name: SCHEDULED + facts.pop(name) * SECOND
        for name in ("started_at", "heartbeat_at", "attempt_scheduled_at")
        if name in facts
    }
    moments.setdefault("attempt_scheduled_at", SCHEDULED)
    return ActivityInfo(
        5,
        "x",
        "Act",
        "work",
        SCHEDULED,
        to_close * SECOND,
        to_start * SECOND,
        start_to_close * SECOND,
        heartbeat * SECOND,
        None,
        **moments,
        **facts,
    )


@pytest.mark.parametrize(
    "pending, seconds, kind",
    [
        (info(start_to_close=5), None, None),
        (info(to_start=3, start_to_close=5), 3, TO_START),
        (info(to_start=3, to_close=9), 3, TO_START),
        (info(to_start=9, to_close=9), 9, TO_START),
        (info(to_close=9, attempt_scheduled_at=4, to_start=9), 9, TO_CLOSE),
        (info(to_start=9, attempt_scheduled_at=4), 13, TO_START),
        (info(start_to_close=5, started_at=2), 7, START_TO_CLOSE),
        (info(start_to_close=5, to_start=3, started_at=2), 7, START_TO_CLOSE),
        (info(start_to_close=5, to_close=7, started_at=2), 7, START_TO_CLOSE),
        (info(start_to_close=5, to_close=6, started_at=2), 6, TO_CLOSE),
        (info(start_to_close=5, heartbeat=2, started_at=2), 4, HEARTBEAT),
        (info(start_to_close=5, heartbeat=2, started_at=2, heartbeat_at=3), 5, HEARTBEAT),
        (info(start_to_close=5, heartbeat=5, started_at=2), 7, START_TO_CLOSE),
        (info(to_close=7, heartbeat=5, started_at=2), 7, TO_CLOSE),
        (info(start_to_close=5, dispatched=False, attempt_scheduled_at=4), 4, None),
        (info(to_start=1, dispatched=False, attempt_scheduled_at=4), 4, None),
        (info(to_close=3, dispatched=False, attempt_scheduled_at=4), 3, TO_CLOSE),
        (info(to_close=4, dispatched=False, attempt_scheduled_at=4), 4, None),
    ],
)
def test_the_earliest_deadline_counts_and_of_two_the_first_of_the_order(pending, seconds, kind):
    due = 0 if seconds is None else SCHEDULED + seconds * SECOND
    assert activity.deadline(pending) == (due, kind)


def test_a_new_attempt_remembers_the_failure_and_the_heartbeat_of_the_last_and_nothing_else():
    begun = activity.begin_attempt(info(start_to_close=5), SCHEDULED, "request", "worker")
    beaten = activity.heartbeat(begun, SCHEDULED + SECOND, b"so far")
    again = activity.back_off(beaten, SCHEDULED + 2 * SECOND, 3 * SECOND, b"failure", timed_out=False)
    assert (again.attempt, again.stamp, again.dispatched) == (2, begun.stamp + 1, False)
    assert again.attempt_scheduled_at == SCHEDULED + 5 * SECOND
    assert (again.started_at, again.request_id, again.identity, again.heartbeat_at) == (0, "", "", 0)
    assert (again.heartbeat_details, again.last_failure, again.last_identity) == (
        b"so far",
        b"failure",
        "worker",
    )
    assert again.last_completed_at == again.last_ended_at == SCHEDULED + 2 * SECOND


def test_an_attempt_that_timed_out_ended_but_did_not_complete():
    begun = activity.begin_attempt(info(start_to_close=5), SCHEDULED, "request", "worker")
    again = activity.back_off(begun, SCHEDULED + SECOND, SECOND, b"", timed_out=True)
    assert (again.last_completed_at, again.last_ended_at) == (0, SCHEDULED + SECOND)
