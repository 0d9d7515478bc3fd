"""The history service: its tasks come from a queue in batches, and those that fail come again by themselves."""

from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.batch import process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from durable_core.adapters.aws import messages
from durable_core.bootstrap_aws import Deployed, deployed
from durable_core.config import aws_settings
from durable_core.services import service_tasks
from functions.batches import Messages
from functions.observing import Observing

observing = Observing("history")


@cache
def parts() -> Deployed:
    observing.adopt_core()
    return deployed(aws_settings())


processor = Messages(lambda: aws_settings().service_queue_url, lambda: parts().coming_again)


def run(record: SQSRecord) -> None:
    task = messages.to_task(record.body)
    context = parts().context
    context.runs.distrust()
    service_tasks.run(context, task)
    observing.logger.info(type(task.body).__name__)


@observing.logger.inject_lambda_context
@observing.traced
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    answer = process_partial_response(event, run, processor, context)
    observing.count(parts().tally.take())
    return answer
