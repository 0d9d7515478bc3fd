"""RespondQueryTaskCompleted: a worker's answer to a query that was asked apart from workflow tasks."""

from temporalio.api.query.v1 import WorkflowQueryResult
from temporalio.api.workflowservice.v1 import (
    RespondQueryTaskCompletedRequest,
    RespondQueryTaskCompletedResponse,
)

from durable_core.model import task_tokens
from durable_core.model.errors import NotFound
from durable_core.ports.notifications import QueryTopic
from durable_core.ports.queries import QueryAnswer
from durable_core.services import lookup
from durable_core.services.context import Context


def respond_query_task_completed(
    context: Context, request: RespondQueryTaskCompletedRequest
) -> RespondQueryTaskCompletedResponse:
    _, token = lookup.of_token(context, request.namespace, task_tokens.query_task, request.task_token)
    result = WorkflowQueryResult(
        result_type=request.completed_type,
        answer=request.query_result if request.HasField("query_result") else None,
        error_message=request.error_message,
        failure=request.failure if request.HasField("failure") else None,
    )
    if not context.queries.answer(token.query_id, QueryAnswer(result.SerializeToString())):
        raise NotFound("query task not found, or already expired")
    context.notifications.publish(QueryTopic(token.query_id))
    return RespondQueryTaskCompletedResponse()
