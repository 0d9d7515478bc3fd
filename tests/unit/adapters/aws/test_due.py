"""A wake-up that arrives fires at its time: never early, whatever brought it and however early that came."""

from hypothesis import given
from hypothesis import strategies as st

from durable_core.adapters.aws.due import EARLY, FIRED, NOT_AWAITED, WAITED_OUT_MAX, DueWakeUps, Taken
from durable_core.adapters.aws.wake_ups import SqsWakeUps, TimerAddresses
from durable_core.adapters.decorators import ManualClock
from durable_core.model.ids import RunKey
from durable_core.model.times import DAY, MINUTE, SECOND
from durable_core.ports.wake_ups import WakeUp

from .sqs import FakeClients

NOW = 1_900_000_000 * SECOND
RUN = RunKey("ns", "wf", "run")


class Parts:
    """Every pause is a little shorter than it was asked for, as a sleep may be."""

    def __init__(self, *, awaited=True):
        self.clock = ManualClock(NOW)
        self.clients = FakeClients()
        self.fired_at = []
        self.awaited = awaited
        wake_ups = SqsWakeUps(self.clients, self.clock, TimerAddresses("url", "arn", "group", "role", "dl"))
        self.due = DueWakeUps(self._fire, lambda _: awaited, wake_ups, self.clock, self._pause)

    def _fire(self, wake_up):
        self.fired_at.append(self.clock.now())
        return self.awaited

    def _pause(self, seconds):
        self.clock.advance(max(1, int(seconds * SECOND * 0.9)))


@given(st.integers(-DAY, WAITED_OUT_MAX))
def test_what_is_left_is_waited_out(after):
    parts = Parts()
    taken = parts.due.take(WakeUp(RUN, NOW + after))
    (fired_at,) = parts.fired_at
    assert fired_at >= NOW + after
    assert taken == Taken(FIRED, fired_at - NOW - after)
    if after > 0:
        assert taken.late < SECOND


@given(st.integers(WAITED_OUT_MAX + 1, 3 * MINUTE))
def test_one_that_comes_much_too_early_goes_back_for_the_rest(after):
    parts = Parts()
    assert parts.due.take(WakeUp(RUN, NOW + after)) == Taken(EARLY)
    assert not parts.fired_at
    assert parts.clock.now() == NOW
    ((entry,),) = [call["Entries"] for call in parts.clients.sqs.of("send_message_batch")]
    assert entry["DelaySeconds"] == after // SECOND


def test_one_that_comes_a_second_time_is_not_counted_as_late():
    parts = Parts(awaited=False)
    assert parts.due.take(WakeUp(RUN, NOW - MINUTE)) == Taken(NOT_AWAITED)


@given(st.integers(1, WAITED_OUT_MAX))
def test_one_that_nobody_waits_for_any_more_is_not_waited_out(after):
    parts = Parts(awaited=False)
    assert parts.due.take(WakeUp(RUN, NOW + after)) == Taken(NOT_AWAITED)
    assert not parts.fired_at
    assert parts.clock.now() == NOW
