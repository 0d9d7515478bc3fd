"""Reading the stream of run documents: the relay sends the tasks that transitions emitted, arming the wake-ups.

Both take records as Lambda gets them, do all of a batch or raise; then the whole batch comes again. Doing a part of it
twice is harmless: tasks are told apart by their names, and wake-ups by their times.
What does not live here: how a document carries tasks and wake-ups (`documents`).
A newcomer's trap: one record that can never succeed would stop its part of the stream for a day. It is set aside, by
itself, and nothing else is: whatever may succeed later raises.
"""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from durable_core.adapters.aws.clients import Clients, unavailable
from durable_core.adapters.aws.sqs_queues import Rejected, SqsTaskQueues
from durable_core.adapters.aws.wake_ups import SqsWakeUps
from durable_core.model.tasks import Task, TaskBody
from durable_core.ports.wake_ups import WakeUp

Record = Mapping[str, Any]
Image = Mapping[str, Any]
"""A record's new image in DynamoDB's JSON, binary values in base64."""
Emitted = Callable[[Image], tuple[list[Task], WakeUp | None]]
"""What a document emitted. Raises `ValueError` for a document that nobody will ever be able to read."""
Claimed = Callable[[Image], TaskBody | None]
"""The task that was claimed by writing a document. Raises as `Emitted` does."""

log = logging.getLogger("perdure")


@dataclass(frozen=True, slots=True)
class Done:
    """How much was done of a batch, and how many of its records were set aside."""

    count: int
    set_aside: int


class DeadLetters:
    """Where records go that can never succeed: a queue that somebody looks after."""

    def __init__(self, clients: Clients, queue_url: str) -> None:
        self._clients = clients
        self._queue_url = queue_url

    def put(self, what: Any, reason: str) -> None:
        """`what` is anything that JSON can say. Raises `Unavailable`."""
        log.error("set aside: %s", reason)
        body = json.dumps({"reason": reason, "what": what}, default=str)
        with unavailable("setting a record aside"):
            self._clients.sqs.send_message(QueueUrl=self._queue_url, MessageBody=body)


class Relay:
    """Sends tasks on, but for those that another record of the batch says have been claimed.

    `chores` does what else a record leaves to whoever reads it; it may raise to be asked again.
    """

    def __init__(
        self,
        emitted: Emitted,
        claimed: Claimed,
        chores: Callable[[Image], None],
        queues: SqsTaskQueues,
        dead_letters: DeadLetters,
    ) -> None:
        self._emitted = emitted
        self._claimed = claimed
        self._chores = chores
        self._queues = queues
        self._dead_letters = dead_letters

    def relay(self, records: Iterable[Record]) -> Done:
        """Raises `Unavailable` and what else may pass; then the batch is to come again."""
        images = list(_images(records))
        emitted: list[tuple[str, Task]] = []
        claimed: set[tuple[str, TaskBody | None]] = set()
        set_aside = 0
        for record, image in images:
            document = repr(record["dynamodb"]["Keys"])
            try:
                emitted.extend((document, task) for task in self._emitted(image)[0])
                claimed.add((document, self._claimed(image)))
            except ValueError as damage:
                self._dead_letters.put(record, f"a record's tasks cannot be read: {damage}")
                set_aside += 1
        tasks = [task for document, task in emitted if (document, task.body) not in claimed]
        try:
            self._queues.send(tasks)
        except Rejected as refusal:
            for task in refusal.tasks:
                self._dead_letters.put(repr(task), str(refusal))
            set_aside += len(refusal.tasks)
        for _, image in images:
            self._chores(image)
        return Done(len(tasks), set_aside)


class Arming:
    """Arms wake-ups. `is_disarmed` says of an image that its run waits for none any more."""

    def __init__(
        self,
        emitted: Emitted,
        is_disarmed: Callable[[Image], bool],
        wake_ups: SqsWakeUps,
        dead_letters: DeadLetters,
    ) -> None:
        self._emitted = emitted
        self._is_disarmed = is_disarmed
        self._wake_ups = wake_ups
        self._dead_letters = dead_letters

    def arm(self, records: Iterable[Record]) -> Done:
        """Raises `Unavailable`; then the batch is to come again."""
        # In a batch a run's last one counts: the stream has a run's records in their order.
        armed: dict[str, WakeUp] = {}
        set_aside = 0
        for record, image in _images(records):
            try:
                wake_up = self._emitted(image)[1]
            except ValueError as damage:
                self._dead_letters.put(record, f"a record's wake-up cannot be read: {damage}")
                set_aside += 1
                continue
            document = repr(record["dynamodb"]["Keys"])
            if wake_up is not None:
                armed[document] = wake_up
            elif self._is_disarmed(image):
                armed.pop(document, None)
        self._wake_ups.arm(list(armed.values()))
        return Done(len(armed), set_aside)


def _images(records: Iterable[Record]) -> Iterator[tuple[Record, Image]]:
    """The records that carry a document; a removal carries none."""
    for record in records:
        image = record.get("dynamodb", {}).get("NewImage")
        if image:
            yield record, image
