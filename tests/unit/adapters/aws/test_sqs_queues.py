"""Task queues on SQS: what is asked of SQS, and what is done about its refusals."""

import pytest

from durable_core.adapters.aws import messages, sqs_queues
from durable_core.adapters.aws.sqs_queues import Addresses, Rejected, SqsTaskQueues
from durable_core.model.errors import Unavailable
from durable_core.model.ids import QueueKey, QueueKind
from durable_core.model.tasks import ActivityTask, NotifyParent, QueryTask, Task, TaskBody, WorkflowTask

from .sqs import FakeClients, refused, sent

SERVICE_URL = "https://sqs.eu-west-1.amazonaws.com/123456789012/stack-service.fifo"
ORDERS = QueueKey("ns", "orders", QueueKind.WORKFLOW)


def task(number: int, body: TaskBody | None = None, queue: QueueKey = ORDERS) -> Task:
    return Task(number, "ns", "wf", "run", queue.name, int(queue.kind), body or WorkflowTask(2, number))


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(sqs_queues, "PAUSE_SECONDS", 0)


class Parts:
    def __init__(self, service_url=SERVICE_URL):
        self.clients = FakeClients()
        self.sqs = self.clients.sqs
        self.queues = SqsTaskQueues(self.clients, Addresses("stack", service_url))

    def receives(self, *tasks):
        for one in tasks:
            message = {"Body": messages.of_task(one), "ReceiptHandle": f"r{one.task_id}"}
            self.sqs.script("receive_message", lambda _, message=message: {"Messages": [message]})


def test_a_queue_is_addressed_beside_the_service_queue():
    url = Parts().queues.url(ORDERS)
    assert url.startswith("https://sqs.eu-west-1.amazonaws.com/123456789012/stack-q-")
    assert url.endswith(".fifo")
    assert len(url.rpartition("/")[2]) <= 80


def test_queues_that_differ_in_anything_have_different_names():
    keys = [
        ORDERS,
        QueueKey("ns", "orders", QueueKind.ACTIVITY),
        QueueKey("ns", "Orders", QueueKind.WORKFLOW),
        QueueKey("n", "sorders", QueueKind.WORKFLOW),
    ]
    assert len({Parts().queues.url(key) for key in keys}) == len(keys)


def test_tasks_go_in_batches_of_ten_each_a_group_of_its_own():
    parts = Parts()
    parts.queues.send([task(number) for number in range(23)])
    batches = [call["Entries"] for call in parts.sqs.of("send_message_batch")]
    assert [len(batch) for batch in batches] == [10, 10, 3]
    names = [entry["MessageGroupId"] for batch in batches for entry in batch]
    assert len(set(names)) == 23
    assert names == [entry["MessageDeduplicationId"] for batch in batches for entry in batch]


def test_the_same_task_has_the_same_name_whoever_sends_it():
    first, second = Parts(), Parts()
    first.queues.send([task(1)])
    second.queues.send([task(2), task(1)])
    (mine,) = first.sqs.of("send_message_batch")[0]["Entries"]
    theirs = second.sqs.of("send_message_batch")[0]["Entries"]
    assert mine["MessageDeduplicationId"] == theirs[1]["MessageDeduplicationId"]
    assert mine["MessageDeduplicationId"] != theirs[0]["MessageDeduplicationId"]


def test_queries_are_told_apart_though_their_task_id_is_zero():
    names = {messages.task_name(task(0, QueryTask(query_id))) for query_id in ("a", "b")}
    assert len(names) == 2


def test_what_failed_of_a_batch_is_sent_again_and_nothing_else():
    parts = Parts()

    def half(call):
        done, failed = call["Entries"][:1], call["Entries"][1:]
        return {
            "Successful": [{"Id": entry["Id"]} for entry in done],
            "Failed": [
                {"Id": entry["Id"], "Code": "InternalError", "SenderFault": False} for entry in failed
            ],
        }

    parts.sqs.script("send_message_batch", half)
    parts.queues.send([task(1), task(2), task(3)])
    first, second = parts.sqs.of("send_message_batch")
    assert [entry["Id"] for entry in second["Entries"]] == [entry["Id"] for entry in first["Entries"]][1:]


def test_what_fails_again_and_again_is_unavailable():
    parts = Parts()

    def nothing(call):
        return {
            "Failed": [
                {"Id": e["Id"], "Code": "InternalError", "SenderFault": False} for e in call["Entries"]
            ]
        }

    parts.sqs.script("send_message_batch", *[nothing] * sqs_queues.SEND_ATTEMPTS)
    with pytest.raises(Unavailable, match="2 of 2 tasks were not sent: InternalError"):
        parts.queues.send([task(1), task(2)])


def test_what_sqs_will_never_take_is_named_and_the_rest_is_sent():
    parts = Parts()

    def first_is_bad(call):
        bad, *good = call["Entries"]
        return {
            "Successful": [{"Id": entry["Id"]} for entry in good],
            "Failed": [{"Id": bad["Id"], "Code": "InvalidMessageContents", "SenderFault": True}],
        }

    parts.sqs.script("send_message_batch", first_is_bad)
    with pytest.raises(Rejected) as refusal:
        parts.queues.send([task(number) for number in range(12)])
    assert refusal.value.tasks == [task(0)]
    assert len(parts.sqs.of("send_message_batch")[-1]["Entries"]) == 2


@pytest.mark.parametrize("code", ["AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"])
def test_a_queue_that_is_not_there_is_made_and_the_tasks_are_sent_to_it(code):
    parts = Parts()
    parts.sqs.script("send_message_batch", refused(code), refused(code), sent)
    parts.queues.send([task(1)])
    (created, _) = parts.sqs.of("create_queue")
    assert created["Attributes"]["FifoThroughputLimit"] == "perMessageGroupId"
    assert created["tags"]["perdure:task-queue"] == "orders"
    assert len(parts.sqs.of("send_message_batch")) == 3


def test_a_tag_holds_only_what_tags_may_hold():
    parts = Parts()
    parts.queues.create(QueueKey("ns", "Bestellungen & 日本語 " + "x" * 300, QueueKind.WORKFLOW))
    (created,) = parts.sqs.of("create_queue")
    tag = created["tags"]["perdure:task-queue"]
    assert tag.startswith("Bestellungen _ ")
    assert len(tag) <= 256


def test_the_service_queue_is_never_made_here():
    parts = Parts()
    parts.sqs.script("send_message_batch", refused("QueueDoesNotExist"))
    service = QueueKey("", "history", QueueKind.SERVICE)
    with pytest.raises(Unavailable):
        parts.queues.send([task(1, NotifyParent(), service)])
    assert not parts.sqs.of("create_queue")


def test_a_standard_service_queue_gets_no_groups():
    parts = Parts("http://localhost/1/stack-service")
    parts.queues.send([task(1, NotifyParent(), QueueKey("", "history", QueueKind.SERVICE))])
    (call,) = parts.sqs.of("send_message_batch")
    assert call["QueueUrl"] == "http://localhost/1/stack-service"
    assert set(call["Entries"][0]) == {"Id", "MessageBody"}


def test_receiving_asks_nobody_and_gives_what_a_wait_fetched():
    parts = Parts()
    assert parts.queues.receive(ORDERS) is None
    assert not parts.sqs.calls
    parts.receives(task(1))
    assert parts.queues.wait(ORDERS, 7)
    assert parts.sqs.of("receive_message")[0]["WaitTimeSeconds"] == 7
    received = parts.queues.receive(ORDERS)
    assert received is not None
    assert received.task == task(1)
    assert parts.queues.receive(ORDERS) is None


def test_a_wait_is_no_longer_than_sqs_allows():
    parts = Parts()
    assert not parts.queues.wait(ORDERS, 60)
    assert parts.sqs.of("receive_message")[0]["WaitTimeSeconds"] == 20


def test_what_was_fetched_and_not_deleted_is_given_back():
    parts = Parts()
    parts.receives(task(1), task(2), task(3))
    for _ in range(3):
        parts.queues.wait(ORDERS, 1)
    first = parts.queues.receive(ORDERS)
    parts.queues.receive(ORDERS)
    assert first is not None
    parts.queues.delete(first)
    parts.queues.give_back()
    given_back = parts.sqs.of("change_message_visibility")
    assert [call["ReceiptHandle"] for call in given_back] == ["r2", "r3"]
    assert {call["VisibilityTimeout"] for call in given_back} == {0}
    assert parts.queues.receive(ORDERS) is None


def test_a_message_that_cannot_be_read_is_left_alone():
    parts = Parts()
    parts.sqs.script("receive_message", lambda _: {"Messages": [{"Body": "?", "ReceiptHandle": "r"}]})
    assert not parts.queues.wait(ORDERS, 1)
    parts.queues.give_back()
    assert [name for name, _ in parts.sqs.calls] == ["receive_message"]


def test_failing_to_delete_or_to_give_back_is_no_error():
    parts = Parts()
    parts.receives(task(1))
    parts.queues.wait(ORDERS, 1)
    received = parts.queues.receive(ORDERS)
    assert received is not None
    parts.sqs.script("delete_message", refused("ReceiptHandleIsInvalid"))
    parts.queues.delete(received)
    parts.receives(task(2))
    parts.queues.wait(ORDERS, 1)
    parts.sqs.script("change_message_visibility", refused("MessageNotInflight"))
    parts.queues.give_back()


def test_other_refusals_are_unavailable():
    parts = Parts()
    for operation, call in (
        ("receive_message", lambda: parts.queues.wait(ORDERS, 1)),
        ("send_message_batch", lambda: parts.queues.send([task(1)])),
        ("get_queue_attributes", lambda: parts.queues.backlog(ORDERS)),
        ("create_queue", lambda: parts.queues.create(ORDERS)),
    ):
        parts.sqs.script(operation, refused("ThrottlingException"))
        with pytest.raises(Unavailable, match="ThrottlingException"):
            call()


def test_a_queue_that_is_not_there_has_no_backlog():
    parts = Parts()
    parts.sqs.script("get_queue_attributes", refused("QueueDoesNotExist"))
    assert parts.queues.backlog(ORDERS) == 0


@pytest.mark.parametrize(
    "offered",
    [
        task(1, NotifyParent(), QueueKey("", "history", QueueKind.SERVICE)),
        task(1, ActivityTask(1, 1, 1)),
        task(1, WorkflowTask(2, 1), QueueKey("ns", "orders", QueueKind.ACTIVITY)),
    ],
)
def test_an_offered_message_is_a_task_that_fits_its_queue(offered):
    parts = Parts()
    with pytest.raises(ValueError, match="not a task for a worker"):
        parts.queues.offer(messages.of_task(offered), "r")
    parts.queues.give_back()
    assert not parts.sqs.calls


def test_an_offered_message_is_received_once_and_deleted_from_its_own_queue():
    parts = Parts()
    assert parts.queues.offer(messages.of_task(task(1)), "theirs") == ORDERS
    received = parts.queues.receive(ORDERS)
    assert received is not None
    parts.queues.delete(received)
    assert not parts.queues.let_go_of_fetched()
    assert parts.sqs.of("delete_message") == [
        {"QueueUrl": parts.queues.url(ORDERS), "ReceiptHandle": "theirs"}
    ]
