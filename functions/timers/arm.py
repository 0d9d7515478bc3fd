"""Arming: wake-ups that transitions armed become delayed messages or schedules, all of a batch or the batch again."""

from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.data_classes import DynamoDBStreamEvent, event_source
from aws_lambda_powertools.utilities.typing import LambdaContext

from durable_core import bootstrap_stream
from durable_core.adapters.aws.stream import Arming
from durable_core.config import aws_settings
from functions.observing import Observing

observing = Observing("arm")


@cache
def arming() -> Arming:
    observing.adopt_core()
    return bootstrap_stream.arming(aws_settings())


@observing.logger.inject_lambda_context
@observing.traced
@event_source(data_class=DynamoDBStreamEvent)
def handler(event: DynamoDBStreamEvent, context: LambdaContext) -> dict[str, Any]:
    records = [record.raw_event for record in event.records]
    done = arming().arm(records)
    observing.logger.info("armed", extra={"records": len(records), "wake_ups": done.count})
    observing.count({"RecordsSetAside": done.set_aside})
    return {}
