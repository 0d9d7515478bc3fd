"""What workers are handed: a claimed workflow task or activity task as the poll's reply."""

from temporalio.api.common.v1 import (
    ActivityType,
    Payloads,
    Priority,
    WorkerVersionCapabilities,
    WorkerVersionStamp,
    WorkflowExecution,
    WorkflowType,
)
from temporalio.api.enums.v1 import TaskQueueKind
from temporalio.api.query.v1 import WorkflowQuery
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import PollActivityTaskQueueResponse, PollWorkflowTaskQueueResponse

from durable_core.engine import updates, workflow_tasks
from durable_core.model import limits, retry, task_tokens
from durable_core.model.ids import RunKey
from durable_core.model.state import ActivityInfo, RunState, WorkflowTaskInfo
from durable_core.model.times import duration, timestamp
from durable_core.services.context import Context


def worker_version(capabilities: WorkerVersionCapabilities) -> WorkerVersionStamp | None:
    """The stamp that a poller leaves on what it starts."""
    if not capabilities.build_id:
        return None
    return WorkerVersionStamp(build_id=capabilities.build_id, use_versioning=capabilities.use_versioning)


def key_of(state: RunState) -> RunKey:
    core = state.core
    return RunKey(core.namespace_id, core.workflow_id, core.run_id)


def workflow_task(
    context: Context, state: RunState, task: WorkflowTaskInfo, *, partial: bool, with_queries: bool
) -> PollWorkflowTaskQueueResponse:
    """A started workflow task. `partial`: its worker has the history up to the last task it completed.

    `with_queries`: some may wait to ride along, so they are looked for.
    """
    core = state.core
    token = task_tokens.WorkflowTaskToken(
        core.namespace_id,
        core.workflow_id,
        core.run_id,
        task.scheduled_event_id,
        task.started_event_id,
        task.attempt,
    )
    first = core.last_workflow_task_started_id + 1 if partial else 1
    page = context.reader.page(core, first, core.next_event_id, nodes_max=limits.workflow_task_history_nodes)
    reply = PollWorkflowTaskQueueResponse(
        task_token=task_tokens.encode(token),
        workflow_execution=WorkflowExecution(workflow_id=core.workflow_id, run_id=core.run_id),
        workflow_type=WorkflowType(name=core.workflow_type),
        previous_started_event_id=core.last_workflow_task_started_id,
        started_event_id=task.started_event_id,
        attempt=task.attempt,
        workflow_execution_task_queue=TaskQueue(name=core.queue, kind=TaskQueueKind.TASK_QUEUE_KIND_NORMAL),
        scheduled_time=timestamp(task.scheduled_at),
        started_time=timestamp(task.started_at),
    )
    reply.history.events.extend(page.events)
    if page.next_event_id:
        following = task_tokens.HistoryPageToken(
            core.run_id, page.next_event_id, core.next_event_id, was_open=True
        )
        reply.next_page_token = task_tokens.encode(following)
    else:
        reply.history.events.extend(workflow_tasks.unwritten_events(core))
    reply.messages.extend(updates.messages(state))
    for query in context.queries.pending(key_of(state)) if with_queries else ():
        reply.queries[query.query_id].CopyFrom(WorkflowQuery.FromString(query.request))
    return reply


def activity_task(context: Context, state: RunState, info: ActivityInfo) -> PollActivityTaskQueueResponse:
    """A started activity attempt; its input is read from the history."""
    core = state.core
    scheduled = context.reader.event(core, info.scheduled_event_id).activity_task_scheduled_event_attributes
    token = task_tokens.ActivityTaskToken(
        core.namespace_id,
        core.workflow_id,
        core.run_id,
        info.scheduled_event_id,
        info.attempt,
        info.activity_id,
    )
    return PollActivityTaskQueueResponse(
        task_token=task_tokens.encode(token),
        workflow_namespace=core.namespace,
        workflow_type=WorkflowType(name=core.workflow_type),
        workflow_execution=WorkflowExecution(workflow_id=core.workflow_id, run_id=core.run_id),
        activity_type=ActivityType(name=info.activity_type),
        activity_id=info.activity_id,
        header=scheduled.header if scheduled.HasField("header") else None,
        input=scheduled.input if scheduled.HasField("input") else None,
        heartbeat_details=Payloads.FromString(info.heartbeat_details) if info.heartbeat_details else None,
        scheduled_time=timestamp(info.scheduled_at),
        current_attempt_scheduled_time=timestamp(info.attempt_scheduled_at),
        started_time=timestamp(info.started_at),
        attempt=info.attempt,
        schedule_to_close_timeout=duration(info.schedule_to_close),
        start_to_close_timeout=duration(info.start_to_close),
        heartbeat_timeout=duration(info.heartbeat_timeout),
        retry_policy=retry.message(info.retry) if info.retry is not None else None,
        priority=Priority.FromString(info.priority) if scheduled.HasField("priority") else None,
    )
