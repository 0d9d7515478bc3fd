"""Renewing: once a day, tasks that have waited long are sent again before SQS forgets them."""

from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from durable_core import bootstrap_stream
from durable_core.adapters.aws.renewal import Renewal
from durable_core.config import aws_settings
from functions.observing import Observing

observing = Observing("renew")


@cache
def renewal() -> Renewal:
    observing.adopt_core()
    return bootstrap_stream.renewal(aws_settings())


@observing.logger.inject_lambda_context
@observing.traced
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    renewed = renewal().renew()
    observing.logger.info("renewed", extra={"tasks": renewed})
    return {}
