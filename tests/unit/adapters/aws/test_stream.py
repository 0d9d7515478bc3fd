"""The stream's readers: a whole batch or the batch again, and what can never succeed is set aside by itself."""

import json

import pytest

from durable_core.adapters.aws import messages, sqs_queues
from durable_core.adapters.aws.sqs_queues import Addresses, SqsTaskQueues
from durable_core.adapters.aws.stream import Arming, DeadLetters, Done, Relay
from durable_core.adapters.aws.wake_ups import SqsWakeUps, TimerAddresses
from durable_core.adapters.decorators import ManualClock
from durable_core.model.errors import Throttled, Unavailable
from durable_core.model.ids import QueueKind, RunKey
from durable_core.model.tasks import Task, WorkflowTask
from durable_core.model.times import SECOND
from durable_core.ports.wake_ups import WakeUp

from .sqs import FakeClients, refused

NOW = 1_900_000_000 * SECOND


def task(number, queue="orders"):
    return Task(number, "ns", "wf", "run", queue, int(QueueKind.WORKFLOW), WorkflowTask(2, number))


def record(
    tasks=(), wake_up=None, damaged=False, newer=False, chores=False, disarms=None, claimed=None, keys=None
):
    image = {"tasks": tasks, "wake_up": wake_up, "damaged": damaged, "newer": newer, "chores": chores}
    image |= {"disarmed": disarms is not None, "claimed": claimed}
    return {"dynamodb": {"NewImage": image, "Keys": keys or disarms or (wake_up and wake_up.run)}}


class NewerFormat(Exception):
    pass


def emitted(image):
    if image["damaged"]:
        raise ValueError("no document")
    if image["newer"]:
        raise NewerFormat
    return list(image["tasks"]), image["wake_up"]


def claimed(image):
    return image["claimed"]


class Parts:
    def __init__(self):
        self.clients = FakeClients()
        self.sqs = self.clients.sqs
        self.chores = []
        dead_letters = DeadLetters(self.clients, "dead-letters")
        queues = SqsTaskQueues(self.clients, Addresses("p", "https://sqs/1/service.fifo"))
        wake_ups = SqsWakeUps(
            self.clients, ManualClock(NOW), TimerAddresses("timers", "arn", "group", "role", "dl")
        )
        self.relay = Relay(emitted, claimed, self._do_chores, queues, dead_letters).relay
        self.arm = Arming(emitted, lambda image: image["disarmed"], wake_ups, dead_letters).arm

    def _do_chores(self, image):
        if image["chores"]:
            self.chores.append(image)

    def sent(self):
        return [
            messages.to_task(entry["MessageBody"])
            for call in self.sqs.of("send_message_batch")
            for entry in call["Entries"]
        ]

    def set_aside(self):
        return [json.loads(call["MessageBody"]) for call in self.sqs.of("send_message")]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(sqs_queues, "PAUSE_SECONDS", 0)


def test_the_tasks_of_all_records_go_to_their_queues_together():
    parts = Parts()
    done = parts.relay([record([task(1), task(2, "other")]), record([task(3)])])
    assert done == Done(3, 0)
    assert parts.sent() == [task(1), task(3), task(2, "other")]


def test_removals_and_records_without_tasks_are_passed_over():
    parts = Parts()
    removal = {"eventName": "REMOVE", "dynamodb": {"Keys": {}}}
    assert parts.relay([removal, record()]) == Done(0, 0)
    assert parts.arm([removal, record()]) == Done(0, 0)
    assert not parts.sqs.calls


@pytest.mark.parametrize("reader", ["relay", "arm"])
def test_a_record_that_nobody_will_ever_read_is_set_aside_and_the_rest_is_done(reader):
    parts = Parts()
    good = record([task(1)], WakeUp(RunKey("ns", "wf", "run"), NOW))
    done = getattr(parts, reader)([record(damaged=True), good])
    assert done == Done(1, 1)
    (letter,) = parts.set_aside()
    assert "no document" in letter["reason"]
    assert letter["what"]["dynamodb"]["NewImage"]["damaged"]
    assert len(parts.sqs.of("send_message_batch")) == 1


@pytest.mark.parametrize("reader", ["relay", "arm"])
def test_a_record_of_a_newer_version_makes_the_batch_come_again(reader):
    parts = Parts()
    with pytest.raises(NewerFormat):
        getattr(parts, reader)([record([task(1)]), record(newer=True)])
    assert not parts.set_aside()


def test_a_batch_that_cannot_be_sent_comes_again_whole():
    parts = Parts()
    parts.sqs.script("send_message_batch", refused("ThrottlingException"))
    with pytest.raises(Unavailable):
        parts.relay([record([task(1)]), record([task(2)])])
    parts.relay([record([task(1)]), record([task(2)])])
    assert parts.sent()[-2:] == [task(1), task(2)]


def test_a_batch_fails_when_a_record_cannot_even_be_set_aside():
    parts = Parts()
    parts.sqs.script("send_message", refused("ThrottlingException"))
    with pytest.raises(Unavailable):
        parts.relay([record(damaged=True)])


def test_a_message_that_sqs_will_never_take_is_set_aside():
    parts = Parts()

    def refuse(call):
        bad, *good = call["Entries"]
        return {
            "Successful": [{"Id": entry["Id"]} for entry in good],
            "Failed": [{"Id": bad["Id"], "Code": "InvalidMessageContents", "SenderFault": True}],
        }

    parts.sqs.script("send_message_batch", refuse)
    assert parts.relay([record([task(1), task(2)])]).set_aside == 1
    (letter,) = parts.set_aside()
    assert "task_id=1" in letter["what"]


def test_chores_are_done_after_the_tasks_and_ask_for_the_batch_again_when_they_fail():
    parts = Parts()
    parts.relay([record([task(1)]), record(chores=True)])
    assert len(parts.chores) == 1

    def throttled(image):
        raise Throttled("slow down")

    relay = Relay(
        emitted,
        claimed,
        throttled,
        SqsTaskQueues(parts.clients, Addresses("p", "https://sqs/1/service.fifo")),
        DeadLetters(parts.clients, "dead-letters"),
    )
    with pytest.raises(Throttled):
        relay.relay([record([task(2)], chores=True)])
    assert parts.sent()[-1] == task(2)


def test_what_was_claimed_within_the_batch_is_not_sent():
    parts = Parts()
    batch = [
        record([task(1), task(2)], keys="one"),
        record([task(3)], keys="other"),
        record([task(4)], claimed=task(1).body, keys="one"),
        record(claimed=task(3).body, keys="third"),
    ]
    assert parts.relay(batch) == Done(3, 0)
    assert parts.sent() == [task(2), task(3), task(4)]


def test_of_a_runs_wake_ups_in_a_batch_the_last_one_is_armed():
    parts = Parts()
    run, other = RunKey("ns", "wf", "run"), RunKey("ns", "wf", "other")
    batch = [
        record(wake_up=WakeUp(run, NOW + 5 * SECOND)),
        record(wake_up=WakeUp(other, NOW + 7 * SECOND)),
        record(wake_up=WakeUp(run, NOW + 2 * SECOND)),
    ]
    assert parts.arm(batch) == Done(2, 0)
    ((first, second),) = [call["Entries"] for call in parts.sqs.of("send_message_batch")]
    armed = {messages.to_wake_up(entry["MessageBody"]) for entry in (first, second)}
    assert armed == {WakeUp(run, NOW + 2 * SECOND), WakeUp(other, NOW + 7 * SECOND)}


def test_a_run_that_closes_within_the_batch_is_armed_for_nothing():
    parts = Parts()
    run, other = RunKey("ns", "wf", "run"), RunKey("ns", "wf", "other")
    batch = [
        record(disarms=other),
        record(wake_up=WakeUp(run, NOW + 5 * SECOND)),
        record(wake_up=WakeUp(other, NOW + 7 * SECOND)),
        record([task(1)]),
        record(disarms=run),
    ]
    assert parts.arm(batch) == Done(1, 0)
    ((only,),) = [call["Entries"] for call in parts.sqs.of("send_message_batch")]
    assert messages.to_wake_up(only["MessageBody"]) == WakeUp(other, NOW + 7 * SECOND)
