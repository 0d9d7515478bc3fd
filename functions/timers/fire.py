"""Firing: a wake-up's message arrives a little early, waits out the rest, and what is due in its run is done."""

from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.batch import process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from durable_core.adapters.aws import messages
from durable_core.adapters.aws.due import FIRED
from durable_core.bootstrap_aws import Deployed, deployed
from durable_core.config import aws_settings
from durable_core.model.times import MILLISECOND
from functions.batches import Messages
from functions.observing import Observing

observing = Observing("fire")
LAST = 1 << 63


@cache
def parts() -> Deployed:
    observing.adopt_core()
    return deployed(aws_settings())


processor = Messages(lambda: aws_settings().timer_queue_url, lambda: parts().coming_again)


def fire(record: SQSRecord) -> None:
    wake_up = messages.to_wake_up(record.body)
    taken = parts().due.take(wake_up)
    late = taken.late // MILLISECOND
    observing.logger.info(taken.outcome, extra={"late_ms": late})
    if taken.outcome == FIRED:
        observing.lateness(late)


@observing.logger.inject_lambda_context
@observing.traced
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    # The earliest first: waiting for one of them is waiting for the later ones too.
    ordered = {"Records": sorted(event["Records"], key=_due)}
    answer = process_partial_response(ordered, fire, processor, context)
    observing.count(parts().tally.take())
    return answer


def _due(record: dict[str, Any]) -> int:
    try:
        return messages.to_wake_up(record["body"]).due
    except ValueError:
        return LAST
