"""The fast path sends what it can, and whatever hinders it is nobody's error."""

import pytest

from durable_core.adapters.aws import messages, sqs_queues
from durable_core.adapters.aws.fast_path import SOON, FastPath
from durable_core.adapters.aws.sqs_queues import Addresses, SqsTaskQueues
from durable_core.adapters.aws.wake_ups import SqsWakeUps, TimerAddresses
from durable_core.adapters.decorators import ManualClock
from durable_core.model.ids import QueueKind, RunKey
from durable_core.model.tasks import Task, WorkflowTask
from durable_core.model.times import SECOND
from durable_core.ports.wake_ups import WakeUp

from .sqs import FakeClients, refused

NOW = 1_000_000 * SECOND
TASK = Task(1, "ns", "wf", "run", "orders", int(QueueKind.WORKFLOW), WorkflowTask(2, 1))


class Parts:
    def __init__(self):
        self.clients = FakeClients()
        clock = ManualClock(NOW)
        queues = SqsTaskQueues(self.clients, Addresses("p", "https://sqs/1/service.fifo"))
        wake_ups = SqsWakeUps(self.clients, clock, TimerAddresses("timers", "arn", "group", "role", "dl"))
        self.dispatch = FastPath(queues, wake_ups, clock).dispatch


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(sqs_queues, "PAUSE_SECONDS", 0)


def test_it_sends_the_tasks():
    parts = Parts()
    parts.dispatch([TASK], [])
    (call,) = parts.clients.sqs.of("send_message_batch")
    assert messages.to_task(call["Entries"][0]["MessageBody"]) == TASK


def test_it_arms_what_is_due_before_the_stream_would_bring_it_and_nothing_else():
    parts = Parts()
    run, other = RunKey("ns", "wf", "run"), RunKey("ns", "wf", "other")
    soon, later = WakeUp(run, NOW + SOON), WakeUp(other, NOW + SOON + 1)
    parts.dispatch([], [soon, later])
    (call,) = parts.clients.sqs.of("send_message_batch")
    assert [messages.to_wake_up(entry["MessageBody"]) for entry in call["Entries"]] == [soon]
    parts.dispatch([], [later])
    assert len(parts.clients.sqs.of("send_message_batch")) == 1


def test_what_it_cannot_send_is_logged_and_left_to_the_relay(caplog):
    parts = Parts()
    parts.clients.sqs.script("send_message_batch", refused("ThrottlingException"))
    parts.dispatch([TASK], [])
    assert "the stream will do it" in caplog.text


def test_what_sqs_will_never_take_is_the_relays_to_set_aside(caplog):
    parts = Parts()
    failed = {"Failed": [{"Id": "0", "Code": "InvalidMessageContents", "SenderFault": True}]}
    parts.clients.sqs.script("send_message_batch", lambda call: failed)
    parts.dispatch([TASK], [])
    assert "the stream will do it" in caplog.text
