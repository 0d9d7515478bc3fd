"""The workflow task: at most one is pending, and while it is started events from outside are buffered.

    state       event                                  next
    ----------  -------------------------------------  ---------
    none        WorkflowTaskScheduled                  scheduled
    scheduled   WorkflowTaskStarted                    started
    scheduled   WorkflowTaskTimedOut (schedule-start)  none       sticky only; the attempt does not rise
    started     WorkflowTaskCompleted                  none       the attempt becomes 1
    started     WorkflowTaskFailed                     none       the attempt rises, unless the queue was sticky
    started     WorkflowTaskTimedOut (start-close)     none       likewise

A task whose attempt is above 1 is transient: its events are written only when it completes, so a task that keeps
failing leaves one failure in the history. A newcomer's trap: the event IDs of a pending transient task are a promise,
and void as soon as another event takes them.
A speculative task only brings updates. Its events, too, are written when it completes, or not at all where it did
nothing but reject them.
"""

from msgspec.structs import replace
from temporalio.api.common.v1 import WorkerVersionStamp
from temporalio.api.enums.v1 import EventType, TaskQueueKind, TimeoutType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import (
    HistoryEvent,
    WorkflowTaskScheduledEventAttributes,
    WorkflowTaskStartedEventAttributes,
)
from temporalio.api.taskqueue.v1 import TaskQueue

from durable_core.model import limits
from durable_core.model.errors import IllegalTransition
from durable_core.model.retry import exponential
from durable_core.model.state import Core, RunState, WorkflowTaskInfo
from durable_core.model.times import duration, nanos


def timeout_of_attempt(core: Core, attempt: int) -> int:
    """Start-to-close time-out in ns: from the fourth attempt on it grows, which is what spaces the attempts."""
    extra = attempt - limits.workflow_task_retry_backoff_attempts
    if extra <= 0:
        return core.workflow_task_timeout
    return core.workflow_task_timeout + exponential(
        limits.workflow_task_retry_interval, 2.0, limits.workflow_task_retry_interval_max, extra
    )


def clear_sticky(core: Core) -> None:
    """Later workflow tasks go to the normal queue, with the full history."""
    core.sticky_queue = ""
    core.sticky_timeout = 0


def is_transient(task: WorkflowTaskInfo) -> bool:
    """Whether the task is a later attempt, which is written only if it completes."""
    return task.attempt > 1


def is_unwritten(task: WorkflowTaskInfo) -> bool:
    """Whether the task's events are not in the history (yet)."""
    return task.attempt > 1 or task.speculative


def scheduled_attributes(task: WorkflowTaskInfo, normal_queue: str) -> WorkflowTaskScheduledEventAttributes:
    """The scheduled event that the task has, or would have."""
    kinds = TaskQueueKind
    queue = TaskQueue(
        name=task.queue,
        kind=kinds.TASK_QUEUE_KIND_STICKY if task.sticky else kinds.TASK_QUEUE_KIND_NORMAL,
        normal_name=normal_queue if task.sticky else "",
    )
    return WorkflowTaskScheduledEventAttributes(
        task_queue=queue, start_to_close_timeout=duration(task.timeout), attempt=task.attempt
    )


def started_attributes(
    task: WorkflowTaskInfo, identity: str = "", version: WorkerVersionStamp | None = None
) -> WorkflowTaskStartedEventAttributes:
    """The started event that a started task would have."""
    return WorkflowTaskStartedEventAttributes(
        scheduled_event_id=task.scheduled_event_id,
        identity=identity,
        request_id=task.request_id,
        suggest_continue_as_new=task.suggest_continue_as_new,
        suggest_continue_as_new_reasons=task.suggest_reasons,  # type: ignore[arg-type]
        history_size_bytes=task.history_bytes,
        worker_version=version,
    )


def end_unsuccessfully(core: Core, at: int, *, raise_attempt: bool) -> None:
    """The pending task failed or timed out. A failure on a sticky queue is first retried on the normal one."""
    if core.sticky_queue:
        clear_sticky(core)
        raise_attempt = False
    core.workflow_task = None
    core.close_attempted = False
    core.workflow_task_attempt = core.workflow_task_attempt + 1 if raise_attempt else 1
    if raise_attempt:
        core.workflow_task_failed_at = at


def started(state: RunState, scheduled_event_id: int) -> WorkflowTaskInfo:
    """The started task with this scheduled event ID."""
    task = state.core.workflow_task
    if task is None or task.scheduled_event_id != scheduled_event_id or not task.started_event_id:
        raise IllegalTransition(f"workflow task {scheduled_event_id} is not started")
    return task


def apply_scheduled(state: RunState, event: HistoryEvent) -> None:
    core = state.core
    if core.workflow_task is not None:
        raise IllegalTransition("a workflow task is pending already")
    attributes = event.workflow_task_scheduled_event_attributes
    at = nanos(event.event_time)
    core.backoff_pending = False
    core.workflow_task_stamp += 1
    core.workflow_task_attempt = attributes.attempt
    core.workflow_task = WorkflowTaskInfo(
        scheduled_event_id=event.event_id,
        attempt=1,
        timeout=nanos(attributes.start_to_close_timeout),
        scheduled_at=at,
        original_scheduled_at=at,
        queue=attributes.task_queue.name,
        sticky=attributes.task_queue.kind == TaskQueueKind.TASK_QUEUE_KIND_STICKY,
        stamp=core.workflow_task_stamp,
    )


def apply_started(state: RunState, event: HistoryEvent) -> None:
    task = state.core.workflow_task
    attributes = event.workflow_task_started_event_attributes
    if task is None or task.scheduled_event_id != attributes.scheduled_event_id or task.started_event_id:
        raise IllegalTransition(f"workflow task {attributes.scheduled_event_id} cannot start")
    state.core.workflow_task = replace(
        task,
        started_event_id=event.event_id,
        started_at=nanos(event.event_time),
        request_id=attributes.request_id,
        identity=attributes.identity,
        suggest_continue_as_new=attributes.suggest_continue_as_new,
        suggest_reasons=tuple(attributes.suggest_continue_as_new_reasons),
        history_bytes=attributes.history_size_bytes,
        worker_version=attributes.worker_version.SerializeToString()
        if attributes.HasField("worker_version")
        else b"",
    )


def apply_completed(state: RunState, event: HistoryEvent) -> None:
    core = state.core
    attributes = event.workflow_task_completed_event_attributes
    task = started(state, attributes.scheduled_event_id)
    core.workflow_task = None
    core.workflow_task_attempt = 1
    core.close_attempted = False
    core.last_workflow_task_completed_id = event.event_id
    core.last_workflow_task_started_id = attributes.started_event_id
    core.last_workflow_task_original_scheduled_at = task.original_scheduled_at
    if attributes.HasField("worker_version"):
        core.worker_version = attributes.worker_version.SerializeToString()


def apply_failed(state: RunState, event: HistoryEvent) -> None:
    attributes = event.workflow_task_failed_event_attributes
    started(state, attributes.scheduled_event_id)
    end_unsuccessfully(state.core, nanos(event.event_time), raise_attempt=True)
    if attributes.cause == WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND:
        state.core.close_attempted = True
    if attributes.cause == WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW:
        state.core.workflow_task_attempt = 1


def apply_timed_out(state: RunState, event: HistoryEvent) -> None:
    attributes = event.workflow_task_timed_out_event_attributes
    task = state.core.workflow_task
    if task is None or task.scheduled_event_id != attributes.scheduled_event_id:
        raise IllegalTransition(f"workflow task {attributes.scheduled_event_id} is not pending")
    waiting = attributes.timeout_type == TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START
    if waiting == bool(task.started_event_id):
        raise IllegalTransition("the time-out does not fit the task's state")
    end_unsuccessfully(state.core, nanos(event.event_time), raise_attempt=not waiting)


APPLY = {
    EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED: apply_scheduled,
    EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED: apply_started,
    EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED: apply_completed,
    EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED: apply_failed,
    EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT: apply_timed_out,
}
