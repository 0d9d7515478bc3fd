"""Renewing what waits long: SQS forgets a message after 14 days, and a task may wait for its worker longer than that.

What does not live here: how often this runs (once a day; `infra`).
A newcomer's trap: the message is sent under another name, or SQS would take it for the old one; and it is sent before
the old one is deleted, for a task twice in its queue does no harm.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from botocore.exceptions import ClientError

from durable_core.adapters.aws.clients import Clients, code_of, unavailable
from durable_core.adapters.aws.sqs_queues import BATCH_MAX, NO_SUCH_QUEUE
from durable_core.model.errors import Unavailable
from durable_core.model.times import DAY, MILLISECOND
from durable_core.ports.clock import Clock
from durable_core.schema.queues import TASK_QUEUE_INFIX

RENEWED_AFTER = 7 * DAY
PAGE = 1_000
SENT_AT = "SentTimestamp"
NAME = "MessageDeduplicationId"


class Renewal:
    def __init__(self, clients: Clients, prefix: str, clock: Clock) -> None:
        self._clients = clients
        self._prefix = prefix
        self._clock = clock

    def renew(self) -> int:
        """Look through all task queues; how many tasks were sent again. Raises `Unavailable`."""
        return sum(self._renew(url) for url in self._queues())

    def _queues(self) -> Iterator[str]:
        following: dict[str, str] = {}
        while True:
            with unavailable("listing queues"):
                answer = self._clients.sqs.list_queues(
                    QueueNamePrefix=f"{self._prefix}{TASK_QUEUE_INFIX}", MaxResults=PAGE, **following
                )
            yield from answer.get("QueueUrls", ())
            if not answer.get("NextToken"):
                return
            following = {"NextToken": answer["NextToken"]}

    def _renew(self, url: str) -> int:
        """Oldest first, until one is young."""
        renewed: set[str] = set()
        while old := self._take_old(url, renewed):
            renewed.update(self._send(url, old))
            for message in old:
                with unavailable("deleting a renewed task"):
                    self._clients.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return len(renewed)

    def _take_old(self, url: str, renewed: set[str]) -> list[dict[str, Any]]:
        """Messages to be renewed, which those that just were are not; the others are given back at once."""
        with unavailable("looking for tasks that wait long"):
            try:
                answer = self._clients.sqs.receive_message(
                    QueueUrl=url,
                    MaxNumberOfMessages=BATCH_MAX,
                    WaitTimeSeconds=0,
                    MessageSystemAttributeNames=[SENT_AT, NAME],
                )
            except ClientError as error:
                if code_of(error) in NO_SUCH_QUEUE:
                    return []
                raise
            latest = (self._clock.now() - RENEWED_AFTER) // MILLISECOND
            old = []
            for message in answer.get("Messages", ()):
                attributes = message["Attributes"]
                if int(attributes[SENT_AT]) <= latest and attributes[NAME] not in renewed:
                    old.append(message)
                    continue
                self._clients.sqs.change_message_visibility(
                    QueueUrl=url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
                )
        return old

    def _send(self, url: str, old: Sequence[dict[str, Any]]) -> list[str]:
        """Send them again; their new names."""
        entries = []
        for number, message in enumerate(old):
            attributes = message["Attributes"]
            name = f"{attributes[NAME].partition('/')[0]}/{attributes[SENT_AT]}"
            entries.append(
                {
                    "Id": str(number),
                    "MessageBody": message["Body"],
                    "MessageGroupId": name,
                    "MessageDeduplicationId": name,
                }
            )
        with unavailable("renewing tasks"):
            answer = self._clients.sqs.send_message_batch(QueueUrl=url, Entries=entries)
        if answer.get("Failed"):
            raise Unavailable(f"{len(answer['Failed'])} of {len(old)} tasks were not renewed")
        return [entry["MessageDeduplicationId"] for entry in entries]
