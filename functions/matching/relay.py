"""The relay: tasks that transitions emitted go from the stream to their queues, all of a batch or the batch again."""

from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.data_classes import DynamoDBStreamEvent, event_source
from aws_lambda_powertools.utilities.typing import LambdaContext

from durable_core import bootstrap_stream
from durable_core.adapters.aws.stream import Relay
from durable_core.config import aws_settings
from functions.observing import Observing

observing = Observing("relay")


@cache
def relay() -> Relay:
    observing.adopt_core()
    return bootstrap_stream.relay(aws_settings())


@observing.logger.inject_lambda_context
@observing.traced
@event_source(data_class=DynamoDBStreamEvent)
def handler(event: DynamoDBStreamEvent, context: LambdaContext) -> dict[str, Any]:
    records = [record.raw_event for record in event.records]
    done = relay().relay(records)
    observing.logger.info("relayed", extra={"records": len(records), "tasks": done.count})
    observing.count({"RecordsSetAside": done.set_aside})
    return {}
