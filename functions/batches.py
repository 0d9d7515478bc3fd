"""Batches of SQS messages: each is done on its own, and one that fails comes again by itself, soon at first.

What does not live here: what is done with a message (the handlers). A newcomer's trap: this is not the processor for
FIFO queues. Each message there is a group of its own, so one that fails holds up no other.
"""

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from durable_core.adapters.aws.coming_again import ComingAgain


class Messages(BatchProcessor):
    """Powertools' processor of a queue's batches, with a word to SQS about each message that fails."""

    def __init__(self, queue_url: Callable[[], str], coming_again: Callable[[], ComingAgain]) -> None:
        """Both are asked for when they are needed: nothing is read or connected when a function is loaded."""
        super().__init__(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
        self._queue_url = queue_url
        self._coming_again = coming_again

    def failure_handler(self, record: SQSRecord, exception: Any) -> Any:
        receives = int(record.attributes.approximate_receive_count)
        self._coming_again().soon(self._queue_url(), record.receipt_handle, receives)
        return super().failure_handler(record, exception)
