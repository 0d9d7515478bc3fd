"""Task queues on SQS: one FIFO queue a task queue, made on first use, and one queue for the history service.

Each message is a group of its own and names its task as the deduplication ID. So sending a task twice within five
minutes (the fast path and the relay both do) is the same as once, and no task waits behind another.
What does not live here: when tasks are sent (`fast_path`, `stream`), and how long a caller waits (`answering`).
A newcomer's trap: `receive` of a function gives what `wait` fetched and never asks SQS itself, for a receive that finds
nothing costs as much as one that finds something. One message is fetched at a time: those that a frozen function holds
are seen by nobody until their visibility time is over.
"""

import logging
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from durable_core.adapters.aws import messages
from durable_core.adapters.aws.clients import LONG_POLL_SECONDS_MAX, Clients, code_of, unavailable
from durable_core.config import AwsSettings
from durable_core.model.errors import Unavailable
from durable_core.model.ids import QueueKey, QueueKind
from durable_core.model.tasks import ActivityTask, QueryTask, Task, WorkflowTask
from durable_core.ports.task_queues import Received
from durable_core.schema.queues import FIFO_SUFFIX, TASK_QUEUE_ATTRIBUTES, task_queue_name

BATCH_MAX = 10
"""SQS's own limit."""
SEND_ATTEMPTS = 4
PAUSE_SECONDS = 0.1
"""Before the second attempt to send; it doubles. A queue that was just made takes up to a second to be usable."""
SHORT_READ_SECONDS = 0
NO_SUCH_QUEUE = ("NonExistentQueue", "QueueDoesNotExist")
TAG_BYTES_MAX = 256

log = logging.getLogger("perdure")


class Rejected(Exception):
    """SQS will never take these tasks' messages, whoever sends them how often."""

    def __init__(self, tasks: Sequence[Task], reason: str) -> None:
        super().__init__(f"SQS refuses {len(tasks)} messages: {reason}")
        self.tasks = tasks


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where queues are. All queues of a deployment are in one account and Region, so one URL gives the others."""

    prefix: str
    service_queue_url: str

    @classmethod
    def of(cls, settings: AwsSettings) -> "Addresses":
        return cls(settings.prefix, settings.service_queue_url)

    def url(self, queue: QueueKey) -> str:
        if queue.kind == QueueKind.SERVICE:
            return self.service_queue_url
        base = self.service_queue_url.rpartition("/")[0]
        return f"{base}/{self.name(queue)}"

    def name(self, queue: QueueKey) -> str:
        return task_queue_name(self.prefix, queue.namespace_id, int(queue.kind), queue.name)


class SqsTaskQueues:
    """Implements `ports.task_queues.TaskQueues`. Not for several threads."""

    def __init__(self, clients: Clients, addresses: Addresses, *, short_reads: bool = False) -> None:
        """`short_reads`: a `receive` that has nothing in hand asks SQS, for callers without an edge that waits."""
        self._clients = clients
        self._addresses = addresses
        self._short_reads = short_reads
        self._fetched: dict[QueueKey, deque[Received]] = {}
        # Receipts that were fetched and not deleted, with their queue.
        self._in_hand: dict[str, QueueKey] = {}

    def url(self, queue: QueueKey) -> str:
        return self._addresses.url(queue)

    def send(self, tasks: Sequence[Task]) -> None:
        """See the port. Raises `Unavailable` when some could not be sent, and `Rejected` when some never can."""
        by_queue: dict[QueueKey, list[Task]] = {}
        for task in tasks:
            by_queue.setdefault(task.queue, []).append(task)
        rejected: list[Task] = []
        reason = ""
        for queue, its in by_queue.items():
            for batch in _batches(its):
                try:
                    self._send_batch(queue, batch)
                except Rejected as refusal:
                    rejected.extend(refusal.tasks)
                    reason = str(refusal)
        if rejected:
            raise Rejected(rejected, reason)

    def receive(self, queue: QueueKey) -> Received | None:
        fetched = self._fetched.get(queue)
        if not fetched and self._short_reads:
            self._fetch(self._clients.sqs, queue, SHORT_READ_SECONDS)
            fetched = self._fetched.get(queue)
        return fetched.popleft() if fetched else None

    def wait(self, queue: QueueKey, seconds: int) -> bool:
        """Wait for a message until there is one in hand (True), or until the time is over or sooner (False)."""
        wait_seconds = max(0, min(seconds, LONG_POLL_SECONDS_MAX))
        return self._fetch(self._clients.sqs_long_polls, queue, wait_seconds)

    def offer(self, body: str, receipt: str) -> QueueKey:
        """Take in hand a message that somebody else fetched; its queue. Raises `ValueError` for what is no task."""
        task = messages.to_task(body)
        fits = (
            isinstance(task.body, WorkflowTask | QueryTask)
            if task.queue.kind == QueueKind.WORKFLOW
            else task.queue.kind == QueueKind.ACTIVITY and isinstance(task.body, ActivityTask)
        )
        if not fits:
            raise ValueError("not a task for a worker")
        self._keep(Received(task, receipt))
        return task.queue

    def delete(self, received: Received) -> None:
        queue = received.task.queue
        self._in_hand.pop(received.receipt, None)
        try:
            self._clients.sqs.delete_message(QueueUrl=self.url(queue), ReceiptHandle=received.receipt)
        except (ClientError, BotoCoreError) as error:
            # It comes again, and its claim finds it stale. A receipt that is too old ends here as well.
            log.info("a message was not deleted: %s", error)

    def let_go_of_fetched(self) -> bool:
        """Forget what is in hand and was not received; whether there was something."""
        left = [received for fetched in self._fetched.values() for received in fetched]
        self._fetched.clear()
        for received in left:
            self._in_hand.pop(received.receipt, None)
        return bool(left)

    def give_back(self) -> None:
        """Let others see at once what was fetched and not deleted."""
        in_hand, self._in_hand = self._in_hand, {}
        self._fetched.clear()
        for receipt, queue in in_hand.items():
            try:
                self._clients.sqs.change_message_visibility(
                    QueueUrl=self.url(queue), ReceiptHandle=receipt, VisibilityTimeout=0
                )
            except (ClientError, BotoCoreError) as error:
                log.info("a message was not given back, and comes again later: %s", error)

    def backlog(self, queue: QueueKey) -> int:
        with unavailable("counting a queue's messages"):
            try:
                answer = self._clients.sqs.get_queue_attributes(
                    QueueUrl=self.url(queue), AttributeNames=["ApproximateNumberOfMessages"]
                )
            except ClientError as error:
                if code_of(error) not in NO_SUCH_QUEUE:
                    raise
                return 0
        return int(answer["Attributes"]["ApproximateNumberOfMessages"])

    def waiting_since(self, queue: QueueKey) -> int | None:
        """SQS tells that as a metric only, minutes later."""
        del queue
        return None

    def create(self, queue: QueueKey) -> None:
        """Make the queue unless it exists. The service queue comes with the deployment."""
        name = self._addresses.name(queue)
        tags = {
            "perdure:namespace-id": _tag(queue.namespace_id),
            "perdure:task-queue": _tag(queue.name),
            "perdure:kind": queue.kind.name.lower(),
        }
        with unavailable("making a queue"):
            self._clients.sqs.create_queue(QueueName=name, Attributes=TASK_QUEUE_ATTRIBUTES, tags=tags)

    def _send_batch(self, queue: QueueKey, tasks: Sequence[Task]) -> None:
        waiting = {str(number): task for number, task in enumerate(tasks)}
        rejected: dict[str, Task] = {}
        reason = ""
        for attempt in range(SEND_ATTEMPTS):
            if attempt:
                time.sleep(PAUSE_SECONDS * 2 ** (attempt - 1))
            for failure in self._try_batch(queue, waiting):
                reason = f"{failure['Code']} {failure.get('Message', '')}"
                if failure["SenderFault"]:
                    rejected[failure["Id"]] = waiting.pop(failure["Id"])
            if not waiting:
                break
        if waiting:
            raise Unavailable(f"{len(waiting)} of {len(tasks)} tasks were not sent: {reason}")
        if rejected:
            raise Rejected(list(rejected.values()), reason)

    def _try_batch(self, queue: QueueKey, waiting: dict[str, Task]) -> list[dict[str, Any]]:
        """Send once, forget in `waiting` what was sent, and return the failures."""
        fifo = self.url(queue).endswith(FIFO_SUFFIX)
        entries = [_entry(number, task, fifo=fifo) for number, task in waiting.items()]
        with unavailable("sending tasks"):
            try:
                answer = self._clients.sqs.send_message_batch(QueueUrl=self.url(queue), Entries=entries)
            except ClientError as error:
                if code_of(error) not in NO_SUCH_QUEUE or queue.kind == QueueKind.SERVICE:
                    raise
                self.create(queue)
                return [{"Id": number, "Code": code_of(error), "SenderFault": False} for number in waiting]
        for sent in answer.get("Successful", ()):
            waiting.pop(sent["Id"], None)
        failed: list[dict[str, Any]] = answer.get("Failed", [])
        return failed

    def _fetch(self, client: Any, queue: QueueKey, seconds: int) -> bool:
        with unavailable("receiving a task"):
            try:
                answer = client.receive_message(
                    QueueUrl=self.url(queue), MaxNumberOfMessages=1, WaitTimeSeconds=seconds
                )
            except ClientError as error:
                if code_of(error) not in NO_SUCH_QUEUE or queue.kind == QueueKind.SERVICE:
                    raise
                self.create(queue)
                if seconds:
                    # Whoever waits tries again at once; give the new queue a moment.
                    time.sleep(PAUSE_SECONDS)
                return False
        found = False
        for message in answer.get("Messages", ()):
            try:
                task = messages.to_task(message["Body"])
            except ValueError as error:
                # A newer version's task, in the middle of a deployment. It comes again to a process that knows it.
                log.warning("a message is left alone: %s", error)
                continue
            self._keep(Received(task, message["ReceiptHandle"]))
            found = True
        return found

    def _keep(self, received: Received) -> None:
        queue = received.task.queue
        self._in_hand[received.receipt] = queue
        self._fetched.setdefault(queue, deque()).append(received)


def _batches(tasks: Sequence[Task]) -> Iterator[Sequence[Task]]:
    for start in range(0, len(tasks), BATCH_MAX):
        yield tasks[start : start + BATCH_MAX]


def _entry(number: str, task: Task, *, fifo: bool) -> dict[str, str]:
    entry = {"Id": number, "MessageBody": messages.of_task(task)}
    if fifo:
        name = messages.task_name(task)
        entry["MessageGroupId"] = name
        entry["MessageDeduplicationId"] = name
    return entry


def _tag(text: str) -> str:
    """What a tag may hold of a name: it is for people, who find the queue by it."""
    return "".join(c if c.isalnum() or c in " _.:/=+-@" else "_" for c in text)[:TAG_BYTES_MAX]
