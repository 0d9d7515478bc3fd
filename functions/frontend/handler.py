"""The frontend: every call but the polls, by Connect or by the Temporal HTTP API."""

from functools import cache
from typing import Any

from aws_lambda_powertools.logging import correlation_paths
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2, event_source
from aws_lambda_powertools.utilities.typing import LambdaContext

from durable_core.bootstrap_aws import deployed
from durable_core.config import aws_settings
from durable_core.services.rpcs import OPERATOR_SERVICE, WORKFLOW_SERVICE
from durable_core.wire.methods import OPERATOR_SERVICE_NAME, WORKFLOW_SERVICE_NAME, MethodTable
from durable_core.wire.router import Router
from functions.api_gateway import ApiGateway
from functions.frontend.waiting import Waits
from functions.observing import Observing

observing = Observing("frontend")


@cache
def api() -> ApiGateway:
    observing.adopt_core()
    parts = deployed(aws_settings())
    table = MethodTable({WORKFLOW_SERVICE_NAME: WORKFLOW_SERVICE, OPERATOR_SERVICE_NAME: OPERATOR_SERVICE})

    waits = Waits(parts.answering)
    return ApiGateway(Router(table), parts.context.clock, waits.run, observing, parts.tally.take)


@observing.logger.inject_lambda_context(correlation_id_path=correlation_paths.API_GATEWAY_HTTP)
@observing.traced
@event_source(data_class=APIGatewayProxyEventV2)
def handler(event: APIGatewayProxyEventV2, context: LambdaContext) -> dict[str, Any]:
    return api().answer(event, context)
