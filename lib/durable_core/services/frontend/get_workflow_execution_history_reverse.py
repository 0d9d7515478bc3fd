"""GetWorkflowExecutionHistoryReverse: from the last event to the first, in pages."""

from temporalio.api.history.v1 import History
from temporalio.api.workflowservice.v1 import (
    GetWorkflowExecutionHistoryReverseRequest,
    GetWorkflowExecutionHistoryReverseResponse,
)

from durable_core.model import limits, task_tokens
from durable_core.model.errors import InvalidArgument
from durable_core.model.ids import RunKey
from durable_core.model.task_tokens import HistoryPageToken
from durable_core.services import lookup
from durable_core.services.context import Context


def get_workflow_execution_history_reverse(
    context: Context, request: GetWorkflowExecutionHistoryReverseRequest
) -> GetWorkflowExecutionHistoryReverseResponse:
    namespace = context.namespaces.named(request.namespace)
    lookup.check_present(request, "execution")
    lookup.check_execution(request.execution)
    if request.next_page_token:
        token = task_tokens.history_page(request.next_page_token)
        if request.execution.run_id and request.execution.run_id != token.run_id:
            raise InvalidArgument("RunId in the request does not match RunId in the NextPageToken.")
        key = RunKey(namespace.namespace_id, request.execution.workflow_id, token.run_id)
        state = context.runs.read(key)
        last = token.next_event_id
    else:
        key = lookup.run_key(context, namespace.namespace_id, request.execution)
        state = context.runs.read(key)
        last = state.core.next_event_id - 1
    nodes = request.maximum_page_size
    if not 0 < nodes <= limits.history_page_nodes_max:
        nodes = limits.history_page_nodes_max
    page = context.reader.page_reverse(state.core, last, nodes_max=nodes)
    reply = GetWorkflowExecutionHistoryReverseResponse(history=History(events=page.events))
    if page.next_event_id:
        after = HistoryPageToken(key.run_id, page.next_event_id, 0, was_open=False)
        reply.next_page_token = task_tokens.encode(after)
    return reply
