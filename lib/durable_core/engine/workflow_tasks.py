"""The life of a workflow task on a transition: schedule, start, complete, fail, time out.

A newcomer's trap: a transient task (attempt above 1) writes no events until it completes. If any event came between,
it becomes a normal first attempt again, because the event IDs that it would have had are taken.
"""

from dataclasses import dataclass

from msgspec.structs import replace
from temporalio.api.common.v1 import WorkerVersionStamp
from temporalio.api.enums.v1 import (
    EventType,
    SuggestContinueAsNewReason,
    TaskQueueKind,
    TimeoutType,
    WorkflowTaskFailedCause,
)
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import (
    HistoryEvent,
    WorkflowTaskCompletedEventAttributes,
    WorkflowTaskFailedEventAttributes,
    WorkflowTaskScheduledEventAttributes,
    WorkflowTaskStartedEventAttributes,
    WorkflowTaskTimedOutEventAttributes,
)
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import RespondWorkflowTaskCompletedRequest

from durable_core.engine import reported_problems
from durable_core.engine.transition import Transition
from durable_core.machines import workflow_task
from durable_core.model import limits
from durable_core.model.errors import IllegalTransition, NotFound
from durable_core.model.ids import QueueKind
from durable_core.model.state import Core, RunState, WorkflowTaskInfo
from durable_core.model.tasks import WorkflowTask
from durable_core.model.times import duration, timestamp


@dataclass(frozen=True, slots=True)
class Claim:
    """Who takes a task."""

    request_id: str
    identity: str
    worker_version: WorkerVersionStamp | None = None


def queue_of(core: Core) -> TaskQueue:
    """Where the run's next workflow task goes."""
    if core.sticky_queue:
        return TaskQueue(
            name=core.sticky_queue, kind=TaskQueueKind.TASK_QUEUE_KIND_STICKY, normal_name=core.queue
        )
    return TaskQueue(name=core.queue, kind=TaskQueueKind.TASK_QUEUE_KIND_NORMAL)


def schedule(
    t: Transition,
    *,
    dispatch: bool = True,
    original_scheduled_at: int | None = None,
    speculative: bool = False,
) -> WorkflowTaskInfo:
    """Schedule a workflow task; there is none pending.

    `dispatch` False: the caller starts it in this transition. `speculative`: only updates call for it.
    """
    core = t.state.core
    if t.has_buffered:
        core.workflow_task_attempt = 1
        t.flush()
    attempt = core.workflow_task_attempt
    timeout = workflow_task.timeout_of_attempt(core, attempt)
    if attempt == 1 and not speculative:
        _add_scheduled(t, core, attempt, timeout, t.now)
        task = _pending(t)
        if original_scheduled_at is not None:
            task = replace(task, original_scheduled_at=original_scheduled_at)
    else:
        core.workflow_task_stamp += 1
        task = WorkflowTaskInfo(
            scheduled_event_id=core.next_event_id,
            attempt=attempt,
            timeout=timeout,
            scheduled_at=t.now,
            original_scheduled_at=t.now,
            queue=core.sticky_queue or core.queue,
            sticky=bool(core.sticky_queue),
            stamp=core.workflow_task_stamp,
            speculative=speculative and attempt == 1,
        )
        t.is_dirty = True
    core.workflow_task = task
    if dispatch:
        t.task(task.queue, QueueKind.WORKFLOW, WorkflowTask(task.scheduled_event_id, task.stamp))
    return task


def may_schedule(state: RunState) -> bool:
    """Whether new events call for a workflow task now: none is pending, and nothing must come before the first one."""
    core = state.core
    return (
        state.is_open
        and core.workflow_task is None
        and not core.backoff_pending
        and not core.waits_for_parent
    )


def _add_scheduled(t: Transition, core: Core, attempt: int, timeout: int, at: int) -> HistoryEvent:
    return t.add(
        EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
        at=at,
        workflow_task_scheduled_event_attributes=WorkflowTaskScheduledEventAttributes(
            task_queue=queue_of(core), start_to_close_timeout=duration(timeout), attempt=attempt
        ),
    )


def _suggestion(core: Core) -> tuple[bool, tuple[int, ...]]:
    """Whether (and why) the history is long enough to suggest continue-as-new."""
    reasons = []
    if core.history_bytes >= limits.history_bytes_suggest_continue_as_new:
        reasons.append(SuggestContinueAsNewReason.SUGGEST_CONTINUE_AS_NEW_REASON_HISTORY_SIZE_TOO_LARGE)
    if core.next_event_id >= limits.history_events_suggest_continue_as_new:
        reasons.append(SuggestContinueAsNewReason.SUGGEST_CONTINUE_AS_NEW_REASON_TOO_MANY_HISTORY_EVENTS)
    return bool(reasons), tuple(reasons)


def start(t: Transition, claim: Claim) -> WorkflowTaskInfo:
    """A worker takes the pending task, and the queries that wait for it."""
    core = t.state.core
    core.queries_wait = False
    task = _pending(t)
    suggest, reasons = _suggestion(core)
    unwritten = workflow_task.is_unwritten(task)
    if unwritten and task.scheduled_event_id != core.next_event_id:
        core.workflow_task = None
        core.workflow_task_attempt = 1
        _add_scheduled(t, core, 1, task.timeout, t.now)
        unwritten = False
        task = _pending(t)
    if unwritten:
        task = replace(
            task,
            started_event_id=task.scheduled_event_id + 1,
            started_at=t.now,
            request_id=claim.request_id,
            identity=claim.identity,
            suggest_continue_as_new=suggest,
            suggest_reasons=reasons,
            history_bytes=core.history_bytes,
        )
        core.workflow_task = task
        t.is_dirty = True
        return task
    attributes = WorkflowTaskStartedEventAttributes(
        scheduled_event_id=task.scheduled_event_id,
        identity=claim.identity,
        request_id=claim.request_id,
        suggest_continue_as_new=suggest,
        suggest_continue_as_new_reasons=reasons,  # type: ignore[arg-type]
        # The size is that of what was stored before this transition, as on the Temporal server.
        history_size_bytes=t.origin.core.history_bytes,
        worker_version=claim.worker_version,
    )
    t.add(EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED, workflow_task_started_event_attributes=attributes)
    t.new_batch()
    return _pending(t)


def _pending(t: Transition) -> WorkflowTaskInfo:
    """The pending task, read afresh: adding an event replaces it."""
    task = t.state.core.workflow_task
    if task is None:
        raise IllegalTransition("no workflow task is pending")
    return task


def unwritten_events(core: Core) -> list[HistoryEvent]:
    """The events that a pending transient or speculative task would have: scheduled, and started if it is."""
    task = core.workflow_task
    if task is None or not workflow_task.is_unwritten(task) or task.scheduled_event_id != core.next_event_id:
        return []
    scheduled = HistoryEvent(
        event_id=task.scheduled_event_id,
        event_time=timestamp(task.scheduled_at),
        event_type=EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
        workflow_task_scheduled_event_attributes=workflow_task.scheduled_attributes(task, core.queue),
    )
    if not task.started_event_id:
        return [scheduled]
    started = HistoryEvent(
        event_id=task.started_event_id,
        event_time=timestamp(task.started_at),
        event_type=EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED,
        workflow_task_started_event_attributes=workflow_task.started_attributes(task, task.identity),
    )
    return [scheduled, started]


def write(
    t: Transition, task: WorkflowTaskInfo, identity: str, version: WorkerVersionStamp | None = None
) -> WorkflowTaskInfo:
    """Write the events of a task that has none in the history yet: scheduled, and started if it is."""
    core = t.state.core
    core.workflow_task = None
    scheduled = t.add(
        EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
        at=task.scheduled_at,
        workflow_task_scheduled_event_attributes=workflow_task.scheduled_attributes(task, core.queue),
    )
    if task.started_event_id:
        task = replace(task, scheduled_event_id=scheduled.event_id)
        attributes = workflow_task.started_attributes(task, identity, version)
        t.add(
            EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED,
            at=task.started_at,
            workflow_task_started_event_attributes=attributes,
        )
        t.new_batch()
    return _pending(t)


def started_task(
    t: Transition, scheduled_event_id: int, started_event_id: int, attempt: int
) -> WorkflowTaskInfo:
    """The started task that a token names; `NotFound` when it is over."""
    task = t.state.core.workflow_task
    if (
        not t.state.is_open
        or task is None
        or not task.started_event_id
        or task.scheduled_event_id != scheduled_event_id
        or task.started_event_id != started_event_id
        or task.attempt != attempt
    ):
        raise NotFound("Workflow task not found.")
    return task


def complete(
    t: Transition, task: WorkflowTaskInfo, request: RespondWorkflowTaskCompletedRequest
) -> HistoryEvent:
    """Record the completion; a transient task's scheduled and started events are written now."""
    if workflow_task.is_unwritten(task):
        version = request.worker_version_stamp if request.HasField("worker_version_stamp") else None
        task = write(t, task, request.identity, version)
    completed = WorkflowTaskCompletedEventAttributes(
        scheduled_event_id=task.scheduled_event_id,
        started_event_id=task.started_event_id,
        identity=request.identity,
        binary_checksum=request.binary_checksum,
        worker_version=request.worker_version_stamp if request.HasField("worker_version_stamp") else None,
        sdk_metadata=request.sdk_metadata if request.HasField("sdk_metadata") else None,
        metering_metadata=request.metering_metadata if request.HasField("metering_metadata") else None,
    )
    reported_problems.after_completion(t)
    return t.add(
        EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, workflow_task_completed_event_attributes=completed
    )


def fail(
    t: Transition,
    task: WorkflowTaskInfo,
    cause: "WorkflowTaskFailedCause.ValueType",
    failure: Failure | None,
    identity: str,
    binary_checksum: str = "",
    worker_version: WorkerVersionStamp | None = None,
) -> None:
    """Record the failure; that of a transient task leaves no event."""
    core = t.state.core
    if workflow_task.is_transient(task):
        workflow_task.end_unsuccessfully(core, t.now, raise_attempt=True)
        if cause == WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND:
            core.close_attempted = True
        t.is_dirty = True
        reported_problems.after_failure(t, cause)
        return
    if task.speculative:
        task = write(t, task, identity)
    t.add(
        EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED,
        workflow_task_failed_event_attributes=WorkflowTaskFailedEventAttributes(
            scheduled_event_id=task.scheduled_event_id,
            started_event_id=task.started_event_id,
            cause=cause,
            failure=failure,
            identity=identity,
            binary_checksum=binary_checksum,
            worker_version=worker_version,
        ),
    )


def time_out(t: Transition, timeout_type: "TimeoutType.ValueType") -> None:
    """The pending task was not started (sticky only) or not answered in time; a new one follows."""
    core = t.state.core
    task = _pending(t)
    if workflow_task.is_transient(task):
        workflow_task.end_unsuccessfully(core, t.now, raise_attempt=True)
        t.is_dirty = True
        reported_problems.after_time_out(t)
    else:
        if task.speculative:
            task = write(t, task, "")
        t.add(
            EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT,
            workflow_task_timed_out_event_attributes=WorkflowTaskTimedOutEventAttributes(
                scheduled_event_id=task.scheduled_event_id,
                started_event_id=task.started_event_id,
                timeout_type=timeout_type,
            ),
        )
    schedule(t)


def time_out_heartbeat(t: Transition) -> None:
    """The worker only kept the task alive for too long: the task times out and goes to the normal queue."""
    time_out(t, TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE)
