"""Answering in a function: it waits as long as it may, looks again, and answers before anybody gives up."""

import pytest

from durable_core.adapters.aws import messages
from durable_core.adapters.aws.answering import Answering, HandedOver, Limits
from durable_core.adapters.aws.sqs_queues import Addresses, SqsTaskQueues
from durable_core.adapters.decorators import ManualClock
from durable_core.model.errors import Internal, InvalidArgument, NotFound
from durable_core.model.ids import QueueKey, QueueKind, RunKey
from durable_core.model.tasks import Task, WorkflowTask
from durable_core.model.times import SECOND
from durable_core.services.calls import Rpc, Wait

from .sqs import FakeClients

NOW = 1_900_000_000 * SECOND
QUEUE = QueueKey("ns", "orders", QueueKind.WORKFLOW)
RUN = RunKey("ns", "wf", "run")
TASK = Task(1, "ns", "wf", "run", "orders", int(QueueKind.WORKFLOW), WorkflowTask(2, 1))


class Runs:
    def __init__(self):
        self.distrusted = 0

    def distrust(self):
        self.distrusted += 1


class System:
    """A context of as much as an edge touches, and functions that say what they were called with."""

    def __init__(self):
        self.clock = ManualClock(NOW)
        self.runs = Runs()
        self.clients = FakeClients()
        self.queues = SqsTaskQueues(self.clients, Addresses("p", "https://sqs/1/service.fifo"))
        self.answering = Answering(self, self.queues, self._pause)
        self.calls = []
        self.happens_at = None
        self.waits_seconds = 60.0
        self.clients.sqs.scripts["receive_message"] = Receiving(self)

    def _pause(self, seconds):
        self.clock.advance(int(seconds * SECOND))

    def call(self, rpc, caller=60.0, edge=25.0, headers=None):
        until = Limits(NOW + int(caller * SECOND), NOW + int(edge * SECOND))
        return self.answering.call(rpc, "request", until, headers or {})

    def elapsed(self):
        return (self.clock.now() - NOW) / SECOND


class Receiving(list):
    """SQS that waits: its message comes at its time, or the wait takes as long as was asked."""

    def __init__(self, system):
        super().__init__()
        self.system = system
        self.append(None)

    def pop(self, index=0):
        return self.receive

    def receive(self, call):
        system, seconds = self.system, call["WaitTimeSeconds"]
        if system.happens_at is not None and system.happens_at <= system.clock.now() + seconds * SECOND:
            system.clock.set(max(system.clock.now(), system.happens_at))
            system.happens_at = None
            return {"Messages": [{"Body": messages.of_task(TASK), "ReceiptHandle": "r"}]}
        system.clock.advance(seconds * SECOND)
        return {}


def poll(system, request, call):
    system.calls.append(call)
    received = system.queues.receive(QUEUE)
    if received is not None:
        system.queues.delete(received)
        return received.task
    return "empty" if call.last else Wait((QUEUE,), system.waits_seconds)


def watch(system, request, call):
    system.calls.append(call)
    if system.happens_at is not None and system.clock.now() >= system.happens_at:
        return "happened"
    return "nothing" if call.last else Wait((RUN,), system.waits_seconds, resume=(call.resume or 0) + 1)


POLL = Rpc(poll, waits=True)
WATCH = Rpc(watch, waits=True)


def test_a_function_that_never_waits_is_just_run():
    system = System()
    assert system.call(Rpc(lambda context, request: (context, request))) == (system, "request")
    assert not system.clients.sqs.calls


def test_a_poll_waits_at_its_queue_and_takes_what_comes():
    system = System()
    system.happens_at = NOW + 7 * SECOND
    assert system.call(POLL) == TASK
    assert system.elapsed() == 7
    assert [call["WaitTimeSeconds"] for call in system.clients.sqs.of("receive_message")] == [20]


def test_a_poll_that_finds_nothing_is_answered_before_the_edge_gives_up():
    system = System()
    assert system.call(POLL) == "empty"
    assert 24 <= system.elapsed() <= 25
    assert [call.last for call in system.calls][-1]


def test_a_caller_with_less_patience_is_answered_before_its_own_deadline():
    system = System()
    assert system.call(POLL, caller=8) == "empty"
    assert 7 <= system.elapsed() < 8


def test_a_service_that_wants_to_wait_less_is_called_for_the_last_time_by_then():
    system = System()
    system.waits_seconds = 3.5
    assert system.call(POLL) == "empty"
    assert system.elapsed() == 3.5


def test_a_poll_says_until_when_it_goes_on_watching():
    system = System()
    system.call(POLL)
    assert system.calls[0].polls_until == NOW + 25 * SECOND
    assert system.calls[-1].polls_until == 0


def test_a_wait_for_a_run_looks_again_soon_and_then_less_often():
    system = System()
    assert system.call(WATCH) == "nothing"
    assert 24 <= system.elapsed() <= 25
    assert 20 < len(system.calls) < 40
    assert [call.resume for call in system.calls[:3]] == [None, 1, 2]


@pytest.mark.parametrize("after", [0.05, 0.7, 5.0, 20.0])
def test_what_happens_to_a_run_is_seen_within_a_second(after):
    system = System()
    system.happens_at = NOW + int(after * SECOND)
    assert system.call(WATCH) == "happened"
    assert after <= system.elapsed() <= after + 1


def test_nothing_cached_is_trusted_when_a_function_is_called():
    system = System()
    system.call(WATCH)
    assert system.runs.distrusted == len(system.calls)


def test_a_task_that_was_fetched_and_not_taken_is_given_back():
    def gone(system, request, call):
        if call.resume:
            raise NotFound("the namespace is gone")
        return Wait((QUEUE,), 30, resume=1)

    system = System()
    system.happens_at = NOW
    with pytest.raises(NotFound):
        system.call(Rpc(gone, waits=True))
    assert [call["ReceiptHandle"] for call in system.clients.sqs.of("change_message_visibility")] == ["r"]


def test_a_defect_is_an_internal_error_and_logged(caplog):
    def broken(system, request):
        raise ZeroDivisionError("a defect")

    with pytest.raises(Internal, match="broken: ZeroDivisionError: a defect"):
        System().call(Rpc(broken))
    assert "ZeroDivisionError" in caplog.text


def test_a_service_that_waits_after_its_last_try_is_a_defect():
    with pytest.raises(Internal, match="after its last try"):
        System().call(Rpc(lambda system, request, call: Wait((RUN,), 60), waits=True))


def test_a_probe_waits_for_nothing_and_tells_the_queue():
    system = System()
    until = NOW + 300 * SECOND
    answer, url = system.answering.probe(POLL, "request", until, {})
    assert answer is None
    assert url == system.queues.url(QUEUE)
    assert system.calls[0].polls_until == until
    assert [name for name, _ in system.clients.sqs.calls] == ["create_queue"]


def test_a_handed_over_message_is_claimed_at_once():
    system = System()
    message = (messages.of_task(TASK), "theirs")
    until = Limits(NOW + SECOND, NOW + SECOND)
    assert system.answering.claim(POLL, "request", HandedOver(*message), until, {}) == TASK
    assert system.calls[0].last
    assert [name for name, _ in system.clients.sqs.calls] == ["delete_message"]


@pytest.mark.parametrize(
    "body", ["no message", messages.of_task(Task(1, "n", "w", "r", "x", 1, WorkflowTask(2, 1)))]
)
def test_a_handed_over_message_for_another_queue_or_none_is_refused_and_stays(body):
    system = System()
    until = Limits(NOW + SECOND, NOW + SECOND)
    with pytest.raises(InvalidArgument):
        system.answering.claim(POLL, "request", HandedOver(body, "theirs"), until, {})
    assert not system.clients.sqs.calls
