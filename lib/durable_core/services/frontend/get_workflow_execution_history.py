"""GetWorkflowExecutionHistory: forward, in pages, waiting for new events or for the end where asked to."""

from temporalio.api.enums.v1 import EventType, HistoryEventFilterType
from temporalio.api.history.v1 import (
    History,
    HistoryEvent,
    WorkflowExecutionContinuedAsNewEventAttributes,
)
from temporalio.api.workflowservice.v1 import (
    GetWorkflowExecutionHistoryRequest,
    GetWorkflowExecutionHistoryResponse,
)

from durable_core.engine import workflow_tasks
from durable_core.model import limits, task_tokens
from durable_core.model.errors import InvalidArgument
from durable_core.model.ids import RunKey
from durable_core.model.state import RunState
from durable_core.model.task_tokens import HistoryPageToken
from durable_core.model.times import SECOND
from durable_core.ports.notifications import ClosedTopic
from durable_core.services import lookup
from durable_core.services.calls import Call, Wait
from durable_core.services.context import Context

_Reply = GetWorkflowExecutionHistoryResponse
_FOLLOWS = "follows-next-run-id"
_CLOSE_EVENT = HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT


def get_workflow_execution_history(
    context: Context, request: GetWorkflowExecutionHistoryRequest, call: Call
) -> _Reply | Wait:
    namespace = context.namespaces.named(request.namespace)
    lookup.check_present(request, "execution")
    lookup.check_execution(request.execution)
    token = task_tokens.history_page(request.next_page_token) if request.next_page_token else None
    if token is not None:
        if request.execution.run_id and request.execution.run_id != token.run_id:
            raise InvalidArgument("RunId in the request does not match RunId in the NextPageToken.")
        key = RunKey(namespace.namespace_id, request.execution.workflow_id, token.run_id)
    elif call.resume is not None:
        key = RunKey(namespace.namespace_id, request.execution.workflow_id, call.resume)
    else:
        key = lookup.run_key(context, namespace.namespace_id, request.execution)
    state = context.runs.read(key)
    reply = (
        _close_event(context, request, state, call)
        if request.history_event_filter_type == _CLOSE_EVENT
        else _page(context, request, state, token)
    )
    if reply is not None:
        return reply
    if call.last:
        return _nothing_yet(state, token)
    only_close = request.history_event_filter_type == _CLOSE_EVENT
    topic = ClosedTopic(key.run_id) if only_close else key
    return Wait((topic,), limits.long_poll_history / SECOND, resume=key.run_id)


def _close_event(
    context: Context, request: GetWorkflowExecutionHistoryRequest, state: RunState, call: Call
) -> _Reply | None:
    """The closing event alone; None while the run is open and the caller waits."""
    core = state.core
    if state.is_open:
        return None if request.wait_new_event else _Reply(history=History())
    event = context.reader.event(core, core.close_event_id)
    if _FOLLOWS not in call.headers.get("supported-features", ""):
        event = _as_continued(event)
    return _Reply(history=History(events=[event]))


def _as_continued(event: HistoryEvent) -> HistoryEvent:
    """For clients that only follow continue-as-new: a run that another one retries or repeats looks continued."""
    completed = event.workflow_execution_completed_event_attributes
    failed = event.workflow_execution_failed_event_attributes
    timed_out = event.workflow_execution_timed_out_event_attributes
    following = (
        completed.new_execution_run_id or failed.new_execution_run_id or timed_out.new_execution_run_id
    )
    if not following:
        return event
    continued = WorkflowExecutionContinuedAsNewEventAttributes(
        new_execution_run_id=following,
        last_completion_result=completed.result if completed.HasField("result") else None,
        failure=failed.failure if failed.HasField("failure") else None,
    )
    return HistoryEvent(
        event_id=event.event_id,
        event_time=event.event_time,
        event_type=EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW,
        version=event.version,
        task_id=event.task_id,
        workflow_execution_continued_as_new_event_attributes=continued,
    )


def _page(
    context: Context,
    request: GetWorkflowExecutionHistoryRequest,
    state: RunState,
    token: HistoryPageToken | None,
) -> _Reply | None:
    """The next page; None when a waiting caller has seen all there is of an open run."""
    core = state.core
    if token is None:
        token = HistoryPageToken(core.run_id, 1, core.next_event_id, state.is_open)
    if token.next_event_id >= token.end_event_id:
        if core.next_event_id > token.end_event_id:
            token = HistoryPageToken(core.run_id, token.end_event_id, core.next_event_id, state.is_open)
        elif state.is_open and request.wait_new_event:
            return None
    nodes = request.maximum_page_size
    if not 0 < nodes <= limits.history_page_nodes_max:
        nodes = limits.history_page_nodes_max
    events: list[HistoryEvent] = []
    following = 0
    if token.next_event_id < token.end_event_id:
        page = context.reader.page(core, token.next_event_id, token.end_event_id, nodes_max=nodes)
        events, following = page.events, page.next_event_id
    reply = _Reply(history=History(events=events))
    if following:
        after = HistoryPageToken(core.run_id, following, token.end_event_id, token.was_open)
        reply.next_page_token = task_tokens.encode(after)
        return reply
    if request.wait_new_event and token.was_open:
        after = HistoryPageToken(core.run_id, token.end_event_id, token.end_event_id, token.was_open)
        reply.next_page_token = task_tokens.encode(after)
    if state.is_open and token.end_event_id == core.next_event_id:
        reply.history.events.extend(_without_identity(workflow_tasks.unwritten_events(core)))
    return reply


def _without_identity(events: list[HistoryEvent]) -> list[HistoryEvent]:
    """As the Temporal server shows a transient task to those who only look."""
    for event in events:
        if event.HasField("workflow_task_started_event_attributes"):
            event.workflow_task_started_event_attributes.identity = ""
    return events


def _nothing_yet(state: RunState, token: HistoryPageToken | None) -> _Reply:
    """The time is over: an empty page, and where to go on."""
    core = state.core
    after = token or HistoryPageToken(core.run_id, 1, 1, state.is_open)
    return _Reply(history=History(), next_page_token=task_tokens.encode(after))
