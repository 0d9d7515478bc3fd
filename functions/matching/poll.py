"""Polling: a worker's call waits here for a task, or claims one that its bridge has fetched."""

from functools import cache
from typing import Any

from aws_lambda_powertools.logging import correlation_paths
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2, event_source
from aws_lambda_powertools.utilities.typing import LambdaContext

from durable_core.bootstrap_aws import deployed
from durable_core.config import aws_settings
from durable_core.services.calls import Rpc
from durable_core.services.matching.poll_activity_task_queue import poll_activity_task_queue
from durable_core.services.matching.poll_workflow_task_queue import poll_workflow_task_queue
from durable_core.wire.methods import WORKFLOW_SERVICE_NAME, MethodTable
from durable_core.wire.router import Router
from functions.api_gateway import ApiGateway
from functions.matching.watching import Polls
from functions.observing import Observing

observing = Observing("poll")
POLLS = {
    "PollWorkflowTaskQueue": Rpc(poll_workflow_task_queue, waits=True),
    "PollActivityTaskQueue": Rpc(poll_activity_task_queue, waits=True),
}


@cache
def api() -> ApiGateway:
    observing.adopt_core()
    parts = deployed(aws_settings())
    polls = Polls(parts.answering, parts.context.clock)
    router = Router(MethodTable({WORKFLOW_SERVICE_NAME: POLLS}))
    return ApiGateway(router, parts.context.clock, polls.run, observing, parts.tally.take)


@observing.logger.inject_lambda_context(correlation_id_path=correlation_paths.API_GATEWAY_HTTP)
@observing.traced
@event_source(data_class=APIGatewayProxyEventV2)
def handler(event: APIGatewayProxyEventV2, context: LambdaContext) -> dict[str, Any]:
    return api().answer(event, context)
