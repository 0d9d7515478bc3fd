"""The functions' handlers in this process, on tables and queues of the local AWS, driven as its event sources would.

What lives here: events in, and what the handlers say of them. A newcomer's trap: each handler makes its parts once a
process, so they are forgotten between tests.
"""

import base64
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from google.protobuf.message import Message
from temporalio.api.workflowservice.v1 import service_pb2

from durable_core.bootstrap_aws import deployed
from durable_core.schema.queues import FIFO_SUFFIX
from durable_core.wire.methods import WORKFLOW_SERVICE_NAME
from functions.frontend import handler as frontend
from functions.history import handler as history
from functions.matching import poll, relay, renew
from functions.timers import arm, fire
from tests.unit.functions.events import Context, body_of, http_event

from .local import PREFIX, Account, Stream, create_tables

METHODS = service_pb2.DESCRIPTOR.services_by_name["WorkflowService"].methods_by_name
FIFO = {"FifoQueue": "true", "DeduplicationScope": "messageGroup", "FifoThroughputLimit": "perMessageGroupId"}


class Refused(Exception):
    """An answer that is an error; `answer` is the response."""

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__(body_of(answer).decode())
        self.status = answer["statusCode"]


@dataclass
class Functions:
    account: Account
    service_url: str
    timer_url: str
    dead_letters_url: str

    def __post_init__(self) -> None:
        self.sqs = self.account.client("sqs")
        self.stream = Stream(self.account)

    def call(self, method: str, request: Message, answer: Any, **headers: str) -> Any:
        """A call by Connect; `answer` is its message class. Raises `Refused`."""
        response = self.respond(method, request, **headers)
        if response["statusCode"] != 200:
            raise Refused(response)
        return answer.FromString(body_of(response))

    def respond(self, method: str, request: Message, **headers: str) -> dict[str, Any]:
        handler = poll.handler if method.startswith("Poll") else frontend.handler
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        event = http_event(
            f"/{WORKFLOW_SERVICE_NAME}/{method}", request.SerializeToString(), at_ms=1 << 60, headers=named
        )
        response: dict[str, Any] = handler(event, Context())
        return response

    def records(self) -> list[dict[str, Any]]:
        """What came through the stream since the last time, as Lambda gets it."""
        return [_as_json(record) for record in self.stream.records()]

    def relay(self, records: list[dict[str, Any]]) -> None:
        relay.handler({"Records": records}, Context())

    def arm(self, records: list[dict[str, Any]]) -> None:
        arm.handler({"Records": records}, Context())

    def serve(self) -> list[str]:
        """Give the history service what waits for it; the messages that failed."""
        return self._take(self.service_url, history.handler, 0)

    def fire(self, wait_seconds: int = 0) -> list[str]:
        """Give the timers what has come, or comes within so long; the messages that failed."""
        return self._take(self.timer_url, fire.handler, wait_seconds)

    def _take(self, url: str, handler: Any, wait_seconds: int) -> list[str]:
        answer = self.sqs.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=10,
            WaitTimeSeconds=wait_seconds,
            MessageSystemAttributeNames=["All"],
        )
        taken = answer.get("Messages", [])
        if not taken:
            return []
        records = [
            {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message["Attributes"],
                "messageAttributes": {},
                "eventSource": "aws:sqs",
            }
            for message in taken
        ]
        said = handler({"Records": records}, Context())
        failed = [failure["itemIdentifier"] for failure in said["batchItemFailures"]]
        for message in taken:
            if message["MessageId"] not in failed:
                self.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return failed

    def backlog(self, url: str) -> int:
        answer = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        return int(answer["ApproximateNumberOfMessages"]) + int(answer["ApproximateNumberOfMessagesDelayed"])

    def task_queues(self) -> list[str]:
        """The URLs of the queues that were made on demand."""
        answer = self.sqs.list_queues(QueueNamePrefix=f"{PREFIX}-q-")
        return list(answer.get("QueueUrls", []))


@contextmanager
def functions(account: Account, monkeypatch: pytest.MonkeyPatch, **settings: str) -> Iterator[Functions]:
    """A deployment's functions in an account that is empty yet."""
    create_tables(account)
    sqs = account.client("sqs")

    def queue(name: str) -> str:
        attributes = FIFO if name.endswith(FIFO_SUFFIX) else {}
        url: str = sqs.create_queue(QueueName=f"{PREFIX}-{name}", Attributes=attributes)["QueueUrl"]
        return url

    made = Functions(account, queue("service.fifo"), queue("timers"), queue("stream-dead-letters"))
    arn = f"arn:aws:sqs:us-east-1:{account.number}:{PREFIX}"
    account.client("scheduler").create_schedule_group(Name=PREFIX)
    environment = {
        **account.environment,
        "PERDURE_PREFIX": PREFIX,
        "PERDURE_SHARDS": "16",
        "PERDURE_SERVICE_QUEUE_URL": made.service_url,
        "PERDURE_TIMER_QUEUE_URL": made.timer_url,
        "PERDURE_TIMER_QUEUE_ARN": f"{arn}-timers",
        "PERDURE_SCHEDULE_GROUP": PREFIX,
        "PERDURE_SCHEDULE_ROLE_ARN": f"arn:aws:iam::{account.number}:role/schedules",
        "PERDURE_TIMER_DEAD_LETTER_QUEUE_ARN": f"{arn}-timer-dead-letters",
        "PERDURE_STREAM_DEAD_LETTER_QUEUE_URL": made.dead_letters_url,
        **settings,
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    core = logging.getLogger("perdure")
    before = core.handlers, core.level, core.propagate
    forget()
    try:
        yield made
    finally:
        forget()
        # The functions' logs are theirs; other tests look at the core's.
        core.handlers, core.level, core.propagate = before


def forget() -> None:
    """As if all environments were new."""
    for made_once in (
        deployed,
        frontend.api,
        poll.api,
        relay.relay,
        arm.arming,
        history.parts,
        fire.parts,
        renew.renewal,
    ):
        made_once.cache_clear()


def _as_json(record: dict[str, Any]) -> dict[str, Any]:
    """A record of the stream's own API in Lambda's form: times as numbers, binary values in base64."""
    change = dict(record["dynamodb"])
    change.pop("ApproximateCreationDateTime", None)
    for part in ("Keys", "NewImage"):
        if part in change:
            change[part] = {name: _attribute(value) for name, value in change[part].items()}
    return {"eventName": record["eventName"], "eventSource": "aws:dynamodb", "dynamodb": change}


def _attribute(value: dict[str, Any]) -> dict[str, Any]:
    ((kind, said),) = value.items()
    return {kind: base64.b64encode(said).decode()} if kind == "B" else value
