"""SQS, the Scheduler and a stream, as far as a deployment uses them, by AWS's documents and a clock that a test moves.

What lives here: what AWS promises, no more (at least once, in no order). What does not: when which function runs.
A newcomer's trap: deduplication outlives the message. A name that was sent within five minutes is not delivered again,
though its message was received and deleted long ago.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from random import Random
from typing import Any

from botocore.exceptions import ClientError

from durable_core.adapters.decorators import ManualClock
from durable_core.model.times import DAY, MILLISECOND, MINUTE, SECOND

BASE_URL = "https://sqs.us-east-1.amazonaws.com/123456789012"
DEDUPLICATED_FOR = 5 * MINUTE
RETAINED_FOR = 14 * DAY


Call = dict[str, Any]
Answer = dict[str, Any]


class Killed(BaseException):
    """The function's process ended here: nothing of it runs any more, no `finally` reaches AWS."""


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "simulated"}}, "AnyOperation")


@dataclass
class Message:
    body: str
    visible_at: int
    expires_at: int
    number: int
    sent_at: int
    name: str
    receipts: int = 0

    @property
    def receipt(self) -> str:
        return f"{self.number}/{self.receipts}"


@dataclass
class Queue:
    fifo: bool
    visibility: int
    messages: list[Message] = field(default_factory=list)
    sent: dict[str, int] = field(default_factory=dict)


@dataclass
class Schedule:
    at: int
    body: str
    queue_url: str


@dataclass
class SimulatedAws:
    """`delivered` counts the messages that receivers got, first deliveries and later ones."""

    clock: ManualClock
    chance: Random
    queues: dict[str, Queue] = field(default_factory=dict)
    schedules: dict[str, Schedule] = field(default_factory=dict)
    stream: list[dict[str, Any]] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)
    delivered: int = 0

    def __post_init__(self) -> None:
        self._numbers = count(1)

    def url(self, name: str) -> str:
        return f"{BASE_URL}/{name}"

    def make(self, name: str, visibility_seconds: int) -> str:
        url = self.url(name)
        self.queues.setdefault(url, Queue(name.endswith(".fifo"), visibility_seconds * SECOND))
        return url

    def queue(self, url: str) -> Queue:
        if url not in self.queues:
            raise refused("AWS.SimpleQueueService.NonExistentQueue")
        return self.queues[url]

    def put(self, url: str, body: str, delay: int = 0, name: str = "") -> None:
        queue, now = self.queue(url), self.clock.now()
        if queue.fifo:
            assert name, "a FIFO queue wants names"
            assert not delay, "a FIFO queue takes no delays"
            if queue.sent.get(name, 0) > now:
                return
            queue.sent[name] = now + DEDUPLICATED_FOR
        message = Message(body, now + delay, now + RETAINED_FOR, next(self._numbers), now, name)
        queue.messages.append(message)
        self.accepted.append(body)

    def take(self, url: str, limit: int) -> list[Message]:
        """Messages in no order; they come again after the queue's visibility time."""
        queue, now = self.queue(url), self.clock.now()
        queue.messages = [message for message in queue.messages if message.expires_at > now]
        visible = [message for message in queue.messages if message.visible_at <= now]
        taken = self.chance.sample(visible, min(limit, len(visible)))
        for message in taken:
            message.visible_at = now + queue.visibility
            message.receipts += 1
        self.delivered += len(taken)
        return taken

    def find(self, url: str, receipt: str) -> Message | None:
        """A FIFO queue knows only the newest receipt of a message."""
        number, _, receipts = receipt.partition("/")
        for message in self.queue(url).messages:
            if message.number == int(number) and (
                not self.queue(url).fifo or message.receipts == int(receipts)
            ):
                return message
        return None

    def next_at(self) -> int | None:
        """When the next message becomes visible or the next schedule fires."""
        now = self.clock.now()
        times = [message.visible_at for queue in self.queues.values() for message in queue.messages]
        times += [schedule.at for schedule in self.schedules.values()]
        return min((at for at in times if at > now), default=None)

    def fire_schedules(self) -> None:
        """Within the minute that begins with a schedule's time, not at it."""
        for name, schedule in list(self.schedules.items()):
            if self.clock.now() >= schedule.at:
                del self.schedules[name]
                self.put(schedule.queue_url, schedule.body)


class Connection:
    """One process' clients. `interfere` is called before and after each operation, and may raise."""

    def __init__(
        self, aws: SimulatedAws, interfere: Callable[[str, str], None] = lambda when, operation: None
    ) -> None:
        self._aws = aws
        self._interfere = interfere
        self._alive = True
        self.sqs = self.sqs_long_polls = self.scheduler = self

    def check_alive(self) -> None:
        if not self._alive:
            raise Killed

    def interfere(self, when: str, operation: str) -> None:
        """Whatever may happen around an operation happens here. A process that was killed does nothing any more."""
        self.check_alive()
        try:
            self._interfere(when, operation)
        except Killed:
            self._alive = False
            raise

    def __getattr__(self, operation: str) -> Callable[..., dict[str, Any]]:
        if operation.startswith("_") or not hasattr(Operations, operation):
            raise AttributeError(operation)

        def call(**parameters: Any) -> dict[str, Any]:
            self.interfere("before", operation)
            answer: dict[str, Any] = getattr(Operations, operation)(self._aws, parameters)
            self.interfere("after", operation)
            return answer

        return call


class Operations:
    """What the adapters call, by its name in botocore, with its parameters as a dictionary."""

    @staticmethod
    def create_queue(aws: SimulatedAws, call: Call) -> Answer:
        return {"QueueUrl": aws.make(call["QueueName"], int(call["Attributes"]["VisibilityTimeout"]))}

    @staticmethod
    def send_message_batch(aws: SimulatedAws, call: Call) -> Answer:
        entries = call["Entries"]
        assert 1 <= len(entries) <= 10
        assert len({entry["Id"] for entry in entries}) == len(entries)
        for entry in entries:
            delay = entry.get("DelaySeconds", 0)
            assert 0 <= delay <= 900
            name = entry.get("MessageDeduplicationId", "")
            aws.put(call["QueueUrl"], entry["MessageBody"], delay * SECOND, name)
        return {"Successful": [{"Id": entry["Id"]} for entry in entries]}

    @staticmethod
    def send_message(aws: SimulatedAws, call: Call) -> Answer:
        aws.put(call["QueueUrl"], call["MessageBody"])
        return {}

    @staticmethod
    def receive_message(aws: SimulatedAws, call: Call) -> Answer:
        url, limit, seconds = call["QueueUrl"], call["MaxNumberOfMessages"], call["WaitTimeSeconds"]
        assert 0 <= seconds <= 20
        until = aws.clock.now() + seconds * SECOND
        while not (taken := aws.take(url, limit)) and aws.clock.now() < until:
            aws.clock.set(min(until, aws.next_at() or until))
        return {"Messages": [_told(message) for message in taken]}

    @staticmethod
    def list_queues(aws: SimulatedAws, call: Call) -> Answer:
        """One queue a page."""
        named = sorted(url for url in aws.queues if url.startswith(aws.url(call["QueueNamePrefix"])))
        page = int(call.get("NextToken", "0"))
        answer: Answer = {"QueueUrls": named[page : page + 1]}
        return answer | ({"NextToken": str(page + 1)} if page + 1 < len(named) else {})

    @staticmethod
    def delete_message(aws: SimulatedAws, call: Call) -> Answer:
        message = aws.find(call["QueueUrl"], call["ReceiptHandle"])
        if message is not None:
            aws.queue(call["QueueUrl"]).messages.remove(message)
        return {}

    @staticmethod
    def change_message_visibility(aws: SimulatedAws, call: Call) -> Answer:
        message = aws.find(call["QueueUrl"], call["ReceiptHandle"])
        if message is not None:
            message.visible_at = aws.clock.now() + call["VisibilityTimeout"] * SECOND
        return {}

    @staticmethod
    def create_schedule(aws: SimulatedAws, call: Call) -> Answer:
        if call["Name"] in aws.schedules:
            raise refused("ConflictException")
        assert call["ActionAfterCompletion"] == "DELETE"
        said = datetime.strptime(call["ScheduleExpression"], "at(%Y-%m-%dT%H:%M:%S)").replace(tzinfo=UTC)
        at = int(said.timestamp()) * SECOND
        assert at > aws.clock.now(), "a schedule in the past never fires"
        # Precise to the minute: up to 59 s after what was asked for.
        late = aws.chance.randrange(60) * SECOND
        target = call["Target"]
        aws.schedules[call["Name"]] = Schedule(at + late, target["Input"], aws.url(target["Arn"]))
        return {}


def _told(message: Message) -> Answer:
    attributes = {
        "SentTimestamp": str(message.sent_at // MILLISECOND),
        "MessageDeduplicationId": message.name,
    }
    return {"Body": message.body, "ReceiptHandle": message.receipt, "Attributes": attributes}


def image(document: str, tasks: bytes, wake_up: bytes, claimed: bytes) -> dict[str, Any]:
    """A stream record as Lambda gets it, of a document with these attributes."""
    said = {"tasks": tasks, "wake_up": wake_up, "claimed": claimed}
    attributes = {name: {"B": base64.b64encode(value).decode()} for name, value in said.items() if value}
    return {"eventName": "MODIFY", "dynamodb": {"Keys": {"pk": {"S": document}}, "NewImage": attributes}}
