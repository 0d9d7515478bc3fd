"""DescribeWorkflowExecution: what is known of a run now, pending things included."""

from temporalio.api.activity.v1 import ActivityOptions
from temporalio.api.common.v1 import (
    ActivityType,
    Memo,
    Payload,
    Payloads,
    Priority,
    SearchAttributes,
    WorkerVersionStamp,
    WorkflowExecution,
    WorkflowType,
)
from temporalio.api.enums.v1 import (
    EventType,
    ParentClosePolicy,
    PendingActivityState,
    PendingWorkflowTaskState,
    TaskQueueKind,
    WorkflowExecutionStatus,
)
from temporalio.api.failure.v1 import Failure
from temporalio.api.sdk.v1 import UserMetadata
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflow.v1 import (
    PendingActivityInfo,
    PendingChildExecutionInfo,
    PendingWorkflowTaskInfo,
    RequestIdInfo,
    ResetPointInfo,
    WorkflowExecutionConfig,
    WorkflowExecutionExtendedInfo,
    WorkflowExecutionInfo,
)
from temporalio.api.workflowservice.v1 import (
    DescribeWorkflowExecutionRequest,
    DescribeWorkflowExecutionResponse,
)

from durable_core.model import retry
from durable_core.model.state import ActivityInfo, ChildInfo, Core, RunState
from durable_core.model.times import NEVER, duration, timestamp
from durable_core.services import lookup
from durable_core.services.context import Context


def describe_workflow_execution(
    context: Context, request: DescribeWorkflowExecutionRequest
) -> DescribeWorkflowExecutionResponse:
    namespace = context.namespaces.named(request.namespace)
    lookup.check_present(request, "execution")
    key = lookup.run_key(context, namespace.namespace_id, request.execution)
    state = context.runs.read(key)
    core = state.core
    return DescribeWorkflowExecutionResponse(
        execution_config=_config(context, core),
        workflow_execution_info=_info(core),
        pending_activities=[_activity(info) for info in state.activities.values()],
        pending_children=[_child(info) for info in state.children.values()],
        pending_workflow_task=_workflow_task(core),
        workflow_extended_info=_extended(state),
    )


def _config(context: Context, core: Core) -> WorkflowExecutionConfig:
    started = context.reader.event(core, 1).workflow_execution_started_event_attributes
    return WorkflowExecutionConfig(
        task_queue=TaskQueue(name=core.queue, kind=TaskQueueKind.TASK_QUEUE_KIND_NORMAL),
        workflow_execution_timeout=started.workflow_execution_timeout
        if started.HasField("workflow_execution_timeout")
        else None,
        workflow_run_timeout=started.workflow_run_timeout
        if started.HasField("workflow_run_timeout")
        else None,
        default_workflow_task_timeout=duration(core.workflow_task_timeout),
        user_metadata=UserMetadata.FromString(core.user_metadata) if core.user_metadata else None,
    )


def _info(core: Core) -> WorkflowExecutionInfo:
    info = WorkflowExecutionInfo(
        execution=WorkflowExecution(workflow_id=core.workflow_id, run_id=core.run_id),
        type=WorkflowType(name=core.workflow_type),
        start_time=timestamp(core.started_at),
        execution_time=timestamp(core.execution_at),
        status=WorkflowExecutionStatus.ValueType(core.status),
        history_length=core.next_event_id - 1,
        memo=Memo(fields={key: Payload.FromString(blob) for key, blob in core.memo.items()}),
        task_queue=core.queue,
        state_transition_count=core.transitions,
        history_size_bytes=core.history_bytes,
        first_run_id=core.first_run_id,
        priority=Priority.FromString(core.priority) if core.has_priority else None,
    )
    if core.closed_at:
        info.close_time.CopyFrom(timestamp(core.closed_at))
        info.execution_duration.CopyFrom(duration(core.closed_at - core.execution_at))
    fields = {key: Payload.FromString(blob) for key, blob in core.search_attributes.items()}
    info.search_attributes.CopyFrom(SearchAttributes(indexed_fields=fields))
    info.auto_reset_points.SetInParent()
    if core.parent is not None:
        info.parent_namespace_id = core.parent.namespace_id
        info.parent_execution.CopyFrom(
            WorkflowExecution(workflow_id=core.parent.workflow_id, run_id=core.parent.run_id)
        )
    root = core.root
    info.root_execution.CopyFrom(
        WorkflowExecution(
            workflow_id=root.workflow_id if root else core.workflow_id,
            run_id=root.run_id if root else core.run_id,
        )
    )
    if core.worker_version:
        info.most_recent_worker_version_stamp.CopyFrom(WorkerVersionStamp.FromString(core.worker_version))
    for blob in core.reset_points:
        info.auto_reset_points.points.append(ResetPointInfo.FromString(blob))
    return info


def _activity(info: ActivityInfo) -> PendingActivityInfo:
    states = PendingActivityState
    state = (
        states.PENDING_ACTIVITY_STATE_STARTED if info.started_at else states.PENDING_ACTIVITY_STATE_SCHEDULED
    )
    if info.cancel_requested:
        state = states.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED
    policy = retry.message(info.retry) if info.retry is not None else None
    pending = PendingActivityInfo(
        activity_id=info.activity_id,
        activity_type=ActivityType(name=info.activity_type),
        state=state,
        heartbeat_details=Payloads.FromString(info.heartbeat_details) if info.heartbeat_details else None,
        attempt=info.attempt,
        maximum_attempts=info.retry.maximum_attempts if info.retry is not None else 0,
        last_failure=Failure.FromString(info.last_failure) if info.last_failure else None,
        last_worker_identity=info.identity or info.last_identity,
        activity_options=ActivityOptions(
            task_queue=TaskQueue(name=info.queue, normal_name=info.queue),
            schedule_to_close_timeout=duration(info.schedule_to_close),
            schedule_to_start_timeout=duration(info.schedule_to_start),
            start_to_close_timeout=duration(info.start_to_close),
            heartbeat_timeout=duration(info.heartbeat_timeout),
            retry_policy=policy,
        ),
    )
    _set_times(pending, info)
    return pending


def _set_times(pending: PendingActivityInfo, info: ActivityInfo) -> None:
    if info.heartbeat_at:
        pending.last_heartbeat_time.CopyFrom(timestamp(info.heartbeat_at))
    if info.started_at:
        pending.last_started_time.CopyFrom(timestamp(info.started_at))
    pending.scheduled_time.CopyFrom(timestamp(info.attempt_scheduled_at))
    if info.schedule_to_close:
        pending.expiration_time.CopyFrom(timestamp(info.scheduled_at + info.schedule_to_close))
    if info.last_completed_at:
        pending.last_attempt_complete_time.CopyFrom(timestamp(info.last_completed_at))
    if not info.dispatched:
        pending.next_attempt_schedule_time.CopyFrom(timestamp(info.attempt_scheduled_at))
        pending.current_retry_interval.CopyFrom(duration(info.attempt_scheduled_at - info.last_ended_at))


def _child(info: ChildInfo) -> PendingChildExecutionInfo:
    return PendingChildExecutionInfo(
        workflow_id=info.workflow_id,
        run_id=info.run_id,
        workflow_type_name=info.workflow_type,
        initiated_id=info.initiated_event_id,
        parent_close_policy=ParentClosePolicy.ValueType(info.parent_close_policy),
    )


def _workflow_task(core: Core) -> PendingWorkflowTaskInfo | None:
    task = core.workflow_task
    if task is None:
        return None
    states = PendingWorkflowTaskState
    pending = PendingWorkflowTaskInfo(
        state=states.PENDING_WORKFLOW_TASK_STATE_STARTED
        if task.started_event_id
        else states.PENDING_WORKFLOW_TASK_STATE_SCHEDULED,
        scheduled_time=timestamp(task.scheduled_at),
        original_scheduled_time=timestamp(task.original_scheduled_at),
        attempt=task.attempt,
    )
    if task.started_event_id:
        pending.started_time.CopyFrom(timestamp(task.started_at))
    return pending


def _extended(state: RunState) -> WorkflowExecutionExtendedInfo:
    core = state.core
    extended = WorkflowExecutionExtendedInfo(
        run_expiration_time=timestamp(core.run_expires_at) if core.run_expires_at else NEVER,
        original_start_time=timestamp(core.original_started_at or core.started_at),
        cancel_requested=core.cancel_requested,
    )
    extended.reset_run_id = core.reset_run_id
    if core.reset_at:
        extended.last_reset_time.CopyFrom(timestamp(core.reset_at))
    if core.execution_expires_at:
        extended.execution_expiration_time.CopyFrom(timestamp(core.execution_expires_at))
    # A signal with the start's request ID (signal-with-start) takes its place, as on the Temporal server.
    event_id = state.requests.get(core.start_request_id) or 1
    started = RequestIdInfo(
        event_type=EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
        event_id=max(event_id, 0),
        buffered=event_id < 0,
    )
    if core.start_request_id:
        extended.request_id_infos[core.start_request_id].CopyFrom(started)
    for request_id, event_id in core.attached_requests.items():
        extended.request_id_infos[request_id].CopyFrom(
            RequestIdInfo(
                event_type=EventType.EVENT_TYPE_WORKFLOW_EXECUTION_OPTIONS_UPDATED,
                event_id=max(event_id, 0),
                buffered=event_id < 0,
            )
        )
    return extended
