"""The fast path sends what it can, and whatever hinders it is nobody's error."""

import pytest

from durable_core.adapters.aws import messages, sqs_queues
from durable_core.adapters.aws.fast_path import FastPath
from durable_core.adapters.aws.sqs_queues import Addresses, SqsTaskQueues
from durable_core.model.ids import QueueKind
from durable_core.model.tasks import Task, WorkflowTask

from .sqs import FakeClients, refused

TASK = Task(1, "ns", "wf", "run", "orders", int(QueueKind.WORKFLOW), WorkflowTask(2, 1))


class Parts:
    def __init__(self):
        self.clients = FakeClients()
        queues = SqsTaskQueues(self.clients, Addresses("p", "https://sqs/1/service.fifo"))
        self.dispatch = FastPath(queues).dispatch


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(sqs_queues, "PAUSE_SECONDS", 0)


def test_it_sends_the_tasks():
    parts = Parts()
    parts.dispatch([TASK])
    (call,) = parts.clients.sqs.of("send_message_batch")
    assert messages.to_task(call["Entries"][0]["MessageBody"]) == TASK


def test_what_it_cannot_send_is_logged_and_left_to_the_relay(caplog):
    parts = Parts()
    parts.clients.sqs.script("send_message_batch", refused("ThrottlingException"))
    parts.dispatch([TASK])
    assert "the relay will do it" in caplog.text


def test_what_sqs_will_never_take_is_the_relays_to_set_aside(caplog):
    parts = Parts()
    failed = {"Failed": [{"Id": "0", "Code": "InvalidMessageContents", "SenderFault": True}]}
    parts.clients.sqs.script("send_message_batch", lambda call: failed)
    parts.dispatch([TASK])
    assert "the relay will do it" in caplog.text
