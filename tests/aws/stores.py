"""Processes that share the tables of one account, with the requests of each in reach.

What lives here: opening stores, counting what they ask, and faults as AWS answers them. A fault is told to the client
by the answer it gets, so that everything above the wire is what runs in production.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ReadTimeoutError

from durable_core.adapters.aws.documents import emitted, has_chores
from durable_core.adapters.aws.dynamo_store import DynamoStore, open_dynamo
from durable_core.adapters.decorators import ManualClock
from durable_core.adapters.decorators.counting import Counting
from durable_core.model.tasks import Task
from durable_core.model.times import SECOND
from durable_core.schema import tables

from .local import PREFIX, Account, Stream, create_tables, session

NOW = 1_700_000_000 * SECOND


@dataclass
class Tables:
    """The tables of an account, and the processes that use them."""

    account: Account
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOW))

    def __post_init__(self) -> None:
        create_tables(self.account)
        self.client = self.account.client("dynamodb")
        self._stream = Stream(self.account)

    def process(self) -> DynamoStore:
        return open_dynamo(PREFIX, self.clock, self.account.access)

    def items(self, table: tables.Table) -> list[dict[str, Any]]:
        """Everything in a table."""
        found: list[dict[str, Any]] = []
        asked: dict[str, Any] = {"TableName": table.name(PREFIX)}
        while True:
            answer = self.client.scan(**asked)
            found += answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return found
            asked["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def parts(self) -> dict[str, int | None]:
        """What is stored beside documents, by sort key, and when it expires (seconds)."""
        return {
            item["sk"]["S"]: int(item["expires_at"]["N"]) if "expires_at" in item else None
            for item in self.items(tables.HISTORY)
        }

    def images(self) -> list[dict[str, Any]]:
        """The new images of the stream since the last call."""
        return [
            record["dynamodb"]["NewImage"]
            for record in self._stream.records()
            if "NewImage" in record["dynamodb"]
        ]

    def tasks(self) -> list[Task]:
        """What the stream carries, since the last call."""
        return [task for image in self.images() for task in emitted(image)[0]]

    def do_chores(self, store: DynamoStore) -> int:
        """Do what the stream leaves to be done; how many documents asked for it."""
        images = [image for image in self.images() if has_chores(image)]
        for image in images:
            store.do_chores(image)
        return len(images)


@contextmanager
def opened(account: Account, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tables]:
    monkeypatch.setattr("pynamodb.connection.base.get_session", session)
    yield Tables(account)


def counting(store: DynamoStore) -> Counting:
    counted = Counting()
    counted.attach(store.database.connection.client)
    return counted


Answer = Callable[[Any], Any]
"""Given a request, what the client gets instead of sending it; None lets it pass."""


def failing(store: DynamoStore, operation: str, *answers: Answer | None) -> None:
    """The next requests of this operation are answered like this, one after the other (None: as they should be)."""
    remaining = iter(answers)

    def handle(request: Any, **_: Any) -> Any:
        answer = next(remaining, None)
        return None if answer is None else answer(request)

    events = store.database.connection.client.meta.events
    events.register(f"before-send.dynamodb.{operation}", handle)


def refusal(code: str, status: int = 400, reasons: list[str] | None = None) -> Answer:
    """An error of DynamoDB's; `reasons` are those of a cancelled transaction, by position."""
    told: dict[str, Any] = {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": "injected"}
    if reasons is not None:
        told["CancellationReasons"] = [{"Code": reason} for reason in reasons]

    def answer(request: Any) -> AWSResponse:
        headers = {"Content-Type": "application/x-amz-json-1.0"}
        return AWSResponse(request.url, status, headers, _Raw(json.dumps(told).encode()))

    return answer


def lost_request(request: Any) -> Any:
    """It never arrived, and nobody knows."""
    raise ReadTimeoutError(endpoint_url=request.url)


def lost_reply(store: DynamoStore) -> Answer:
    """It was done, and nobody knows."""

    def answer(request: Any) -> Any:
        endpoint = store.database.connection.client._endpoint
        endpoint.http_session.send(request)
        raise ReadTimeoutError(endpoint_url=request.url)

    return answer


class _Raw:
    """The body of an answer, as botocore reads it."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self._body
