"""The run itself: it starts once, may be signalled and asked to cancel, and closes once.

state   event                                 next
------  ------------------------------------  ------
-       WorkflowExecutionStarted              open
open    WorkflowExecutionSignaled             open
open    WorkflowExecutionCancelRequested      open
open    WorkflowExecutionOptionsUpdated       open
open    UpsertWorkflowSearchAttributes        open
open    WorkflowPropertiesModified            open
open    MarkerRecorded                        open
open    WorkflowExecutionCompleted            closed
open    WorkflowExecutionFailed               closed
open    WorkflowExecutionTimedOut             closed
open    WorkflowExecutionCanceled             closed
open    WorkflowExecutionTerminated           closed
open    WorkflowExecutionContinuedAsNew       closed
"""

from collections.abc import Callable, Mapping

from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import EventType, WorkflowExecutionStatus
from temporalio.api.history.v1 import HistoryEvent, WorkflowExecutionStartedEventAttributes

from durable_core.model import retry
from durable_core.model.errors import IllegalTransition
from durable_core.model.state import Core, Parent, Root, RunState
from durable_core.model.times import nanos

Status = WorkflowExecutionStatus


def merged(old: Mapping[str, bytes], fields: Mapping[str, Payload]) -> dict[str, bytes]:
    """Upsert payload fields; a payload without data removes its field, as does a `binary/null` one."""
    result = dict(old)
    for key, payload in fields.items():
        null = payload.metadata.get("encoding") == b"binary/null"
        if null or payload.data in (b"", b"null", b"[]"):
            result.pop(key, None)
        else:
            result[key] = payload.SerializeToString()
    return result


def _fields(fields: Mapping[str, Payload]) -> dict[str, bytes]:
    return {key: payload.SerializeToString() for key, payload in fields.items()}


def apply_started(state: RunState, event: HistoryEvent) -> None:
    core = state.core
    if core.status:
        raise IllegalTransition("the run has started already")
    attributes = event.workflow_execution_started_event_attributes
    at = nanos(event.event_time)
    core.status = Status.WORKFLOW_EXECUTION_STATUS_RUNNING
    core.workflow_id = attributes.workflow_id
    core.workflow_type = attributes.workflow_type.name
    core.queue = attributes.task_queue.name
    core.first_run_id = attributes.first_execution_run_id
    core.original_run_id = attributes.original_execution_run_id
    core.continued_run_id = attributes.continued_execution_run_id
    core.started_at = at
    backoff = nanos(attributes.first_workflow_task_backoff)
    core.execution_at = at + backoff
    core.backoff_pending = backoff > 0
    _apply_time_outs(core, attributes, at)
    core.attempt = attributes.attempt
    core.retry = retry.parsed(attributes.retry_policy) if attributes.HasField("retry_policy") else None
    core.cron = attributes.cron_schedule
    core.memo = _fields(attributes.memo.fields)
    core.search_attributes = _fields(attributes.search_attributes.indexed_fields)
    core.last_completion_result = attributes.last_completion_result.SerializeToString()
    core.last_failure = attributes.continued_failure.SerializeToString()
    points = attributes.prev_auto_reset_points.points
    core.reset_points = tuple(point.SerializeToString() for point in points)
    core.user_metadata = event.user_metadata.SerializeToString()
    core.priority = attributes.priority.SerializeToString()
    core.has_priority = attributes.HasField("priority")
    core.completion_callbacks = tuple(c.SerializeToString() for c in attributes.completion_callbacks)
    core.start_links = tuple(link.SerializeToString() for link in event.links)
    _apply_family(core, attributes)


def _apply_time_outs(core: Core, attributes: WorkflowExecutionStartedEventAttributes, at: int) -> None:
    core.execution_timeout = nanos(attributes.workflow_execution_timeout)
    core.run_timeout = nanos(attributes.workflow_run_timeout)
    core.workflow_task_timeout = nanos(attributes.workflow_task_timeout)
    core.execution_expires_at = nanos(attributes.workflow_execution_expiration_time)
    expiry = core.execution_at + core.run_timeout if core.run_timeout else 0
    if core.execution_expires_at and (not expiry or expiry > core.execution_expires_at):
        expiry = core.execution_expires_at
    core.run_expires_at = expiry


def _apply_family(core: Core, attributes: WorkflowExecutionStartedEventAttributes) -> None:
    if attributes.HasField("parent_workflow_execution"):
        core.parent = Parent(
            namespace=attributes.parent_workflow_namespace,
            namespace_id=attributes.parent_workflow_namespace_id,
            workflow_id=attributes.parent_workflow_execution.workflow_id,
            run_id=attributes.parent_workflow_execution.run_id,
            initiated_event_id=attributes.parent_initiated_event_id,
        )
    if attributes.HasField("root_workflow_execution"):
        root = attributes.root_workflow_execution
        core.root = Root(workflow_id=root.workflow_id, run_id=root.run_id)


def apply_signaled(state: RunState, event: HistoryEvent) -> None:
    state.core.signals += 1
    request_id = event.workflow_execution_signaled_event_attributes.request_id
    if request_id:
        state.requests.put(request_id, event.event_id)


def apply_cancel_requested(state: RunState, event: HistoryEvent) -> None:
    if state.core.cancel_requested:
        raise IllegalTransition("cancellation is requested already")
    state.core.cancel_requested = True
    state.core.backoff_pending = False  # A run that waits for its first workflow task is asked at once.


def apply_options_updated(state: RunState, event: HistoryEvent) -> None:
    attributes = event.workflow_execution_options_updated_event_attributes
    core = state.core
    core.completion_callbacks += tuple(
        c.SerializeToString() for c in attributes.attached_completion_callbacks
    )
    if attributes.attached_request_id:
        core.attached_requests = {**core.attached_requests, attributes.attached_request_id: event.event_id}


def apply_search_attributes(state: RunState, event: HistoryEvent) -> None:
    fields = event.upsert_workflow_search_attributes_event_attributes.search_attributes.indexed_fields
    state.core.search_attributes = merged(state.core.search_attributes, fields)


def apply_properties(state: RunState, event: HistoryEvent) -> None:
    attributes = event.workflow_properties_modified_event_attributes
    state.core.memo = merged(state.core.memo, attributes.upserted_memo.fields)


def apply_marker(state: RunState, event: HistoryEvent) -> None:
    """A marker is for the worker alone."""


def _closing(status: "Status.ValueType") -> Callable[[RunState, HistoryEvent], None]:
    def apply(state: RunState, event: HistoryEvent) -> None:
        core = state.core
        core.status = status
        core.closed_at = nanos(event.event_time)
        core.close_event_id = event.event_id
        core.workflow_task = None
        core.backoff_pending = False

    return apply


APPLY = {
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED: apply_started,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED: apply_signaled,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED: apply_cancel_requested,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_OPTIONS_UPDATED: apply_options_updated,
    EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES: apply_search_attributes,
    EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED: apply_properties,
    EventType.EVENT_TYPE_MARKER_RECORDED: apply_marker,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED: _closing(Status.WORKFLOW_EXECUTION_STATUS_COMPLETED),
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED: _closing(Status.WORKFLOW_EXECUTION_STATUS_FAILED),
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT: _closing(Status.WORKFLOW_EXECUTION_STATUS_TIMED_OUT),
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED: _closing(Status.WORKFLOW_EXECUTION_STATUS_CANCELED),
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED: _closing(Status.WORKFLOW_EXECUTION_STATUS_TERMINATED),
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW: _closing(
        Status.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW
    ),
}
