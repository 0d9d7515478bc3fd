"""Arming: never late by rounding, by message up to 15 minutes, by schedule beyond."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from durable_core.adapters.aws import messages
from durable_core.adapters.aws.wake_ups import SqsWakeUps, TimerAddresses
from durable_core.adapters.decorators import ManualClock
from durable_core.model.errors import Unavailable
from durable_core.model.ids import RunKey
from durable_core.model.times import DAY, MINUTE, SECOND
from durable_core.ports.wake_ups import WakeUp

from .sqs import FakeClients, refused

NOW = 1_900_000_000 * SECOND + 123_456_789
RUN = RunKey("ns", "wf", "run")
ADDRESSES = TimerAddresses("queue-url", "queue-arn", "group", "role", "dead-letters-arn")


class Parts:
    def __init__(self):
        self.clients = FakeClients()
        self.wake_ups = SqsWakeUps(self.clients, ManualClock(NOW), ADDRESSES)

    def arm(self, *afters):
        self.wake_ups.arm([WakeUp(RUN, NOW + after) for after in afters])

    def entries(self):
        return [entry for call in self.clients.sqs.of("send_message_batch") for entry in call["Entries"]]

    def schedules(self):
        return self.clients.scheduler.of("create_schedule")


@given(st.integers(-DAY, 900 * SECOND))
def test_a_near_one_is_a_message_that_comes_less_than_a_second_early_and_never_late(after):
    parts = Parts()
    parts.arm(after)
    (entry,) = parts.entries()
    assert 0 <= entry["DelaySeconds"] <= 900
    assert 0 <= max(after, 0) - entry["DelaySeconds"] * SECOND < SECOND
    assert messages.to_wake_up(entry["MessageBody"]) == WakeUp(RUN, NOW + after)
    assert not parts.schedules()


@given(st.integers(900 * SECOND + 1, 299 * DAY))
def test_a_far_one_is_a_schedule_early_enough_for_its_precision_and_late_enough_for_one_message(after):
    parts = Parts()
    parts.arm(after)
    (schedule,) = parts.schedules()
    at = datetime.strptime(schedule["ScheduleExpression"], "at(%Y-%m-%dT%H:%M:%S)").replace(tzinfo=UTC)
    ahead = NOW + after - int(at.timestamp()) * SECOND
    assert 2 * MINUTE < ahead < 10 * MINUTE
    assert int(at.timestamp()) * SECOND > NOW
    assert schedule["ScheduleExpressionTimezone"] == "UTC"
    assert schedule["ActionAfterCompletion"] == "DELETE"
    assert messages.to_wake_up(schedule["Target"]["Input"]) == WakeUp(RUN, NOW + after)
    assert schedule["Target"]["DeadLetterConfig"] == {"Arn": "dead-letters-arn"}
    assert not parts.entries()


def test_one_in_a_hundred_years_is_scheduled_within_the_next():
    parts = Parts()
    parts.arm(36_500 * DAY)
    (schedule,) = parts.schedules()
    at = datetime.strptime(schedule["ScheduleExpression"], "at(%Y-%m-%dT%H:%M:%S)").replace(tzinfo=UTC)
    assert int(at.timestamp()) * SECOND <= NOW + 365 * DAY


def test_arming_again_is_arming_once():
    parts = Parts()
    parts.arm(3 * DAY)
    parts.clients.scheduler.script("create_schedule", refused("ConflictException"))
    parts.arm(3 * DAY)
    first, second = parts.schedules()
    assert first["Name"] == second["Name"]


def test_many_go_in_batches_of_ten():
    parts = Parts()
    parts.arm(*range(0, 25 * SECOND, SECOND))
    assert [len(call["Entries"]) for call in parts.clients.sqs.of("send_message_batch")] == [10, 10, 5]


def test_what_failed_of_a_batch_is_sent_again_and_at_last_unavailable():
    parts = Parts()

    def nothing(call):
        return {"Failed": [{"Id": entry["Id"], "Code": "InternalError"} for entry in call["Entries"]]}

    def first_fails(call):
        return {"Failed": [{"Id": call["Entries"][0]["Id"], "Code": "InternalError"}]}

    parts.clients.sqs.script("send_message_batch", first_fails)
    parts.arm(SECOND, 2 * SECOND)
    assert [len(call["Entries"]) for call in parts.clients.sqs.of("send_message_batch")] == [2, 1]
    parts.clients.sqs.script("send_message_batch", nothing, nothing, nothing)
    with pytest.raises(Unavailable, match="1 of 1 timers were not armed"):
        parts.arm(SECOND)


def test_a_refusal_of_the_scheduler_is_unavailable():
    parts = Parts()
    parts.clients.scheduler.script("create_schedule", refused("ThrottlingException"))
    with pytest.raises(Unavailable, match="ThrottlingException"):
        parts.arm(3 * DAY)
