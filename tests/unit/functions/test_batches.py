"""A message that fails comes again soon, and the others of its batch are done."""

from typing import Any

from aws_lambda_powertools.utilities.batch import process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from botocore.exceptions import ClientError

from durable_core.adapters.aws.coming_again import ComingAgain
from functions.batches import Messages
from tests.unit.functions.events import Context

URL = "https://sqs.us-east-1.amazonaws.com/1/timer"


class Sqs:
    def __init__(self, error: ClientError | None = None) -> None:
        self.shown: list[tuple[str, str, int]] = []
        self._error = error

    def change_message_visibility(self, **call: Any) -> None:
        if self._error is not None:
            raise self._error
        self.shown.append((call["QueueUrl"], call["ReceiptHandle"], call["VisibilityTimeout"]))


class Clients:
    def __init__(self, sqs: Sqs) -> None:
        self.sqs = sqs


def record(name: str, receives: int) -> dict[str, Any]:
    return {
        "messageId": name,
        "receiptHandle": f"receipt of {name}",
        "body": name,
        "attributes": {"ApproximateReceiveCount": str(receives)},
        "eventSource": "aws:sqs",
    }


def failed(sqs: Sqs, *records: dict[str, Any]) -> list[str]:
    """The messages that SQS is told to keep."""
    done = []

    def do(record: SQSRecord) -> None:
        if record.body.startswith("bad"):
            raise ValueError(record.body)
        done.append(record.body)

    coming_again = ComingAgain(Clients(sqs))  # type: ignore[arg-type]
    processor = Messages(lambda: URL, lambda: coming_again)
    answer = process_partial_response({"Records": list(records)}, do, processor, Context())  # type: ignore[arg-type]
    assert done == [each["body"] for each in records if not each["body"].startswith("bad")]
    return [each["itemIdentifier"] for each in answer["batchItemFailures"]]


def test_what_is_done_is_done_and_nothing_is_shown_again():
    sqs = Sqs()
    assert failed(sqs, record("one", 1), record("two", 1)) == []
    assert sqs.shown == []


def test_what_fails_is_shown_again_later_each_time_and_at_least_once_a_minute():
    sqs = Sqs()
    counts = (1, 2, 3, 6, 7, 30)
    bad = [record(f"bad {count}", count) for count in counts]
    assert failed(sqs, record("one", 1), *bad) == [f"bad {count}" for count in counts]
    assert sqs.shown == [
        (URL, f"receipt of bad {count}", seconds)
        for count, seconds in zip(counts, (1, 2, 4, 32, 60, 60), strict=True)
    ]


def test_where_sqs_refuses_the_message_still_counts_as_failed():
    sqs = Sqs(ClientError({"Error": {"Code": "ReceiptHandleIsInvalid"}}, "ChangeMessageVisibility"))
    assert failed(sqs, record("bad", 1), record("one", 1)) == ["bad"]
