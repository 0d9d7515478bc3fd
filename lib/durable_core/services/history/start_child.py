"""Start a child: create its run, record the start at the parent, then let the child begin.

Only the last step schedules the child's first workflow task, so that a child never runs whose parent does not know.
"""

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import StartChildWorkflowExecutionFailedCause, WorkflowIdConflictPolicy
from temporalio.api.history.v1 import (
    HistoryEvent,
    StartChildWorkflowExecutionInitiatedEventAttributes,
    WorkflowExecutionStartedEventAttributes,
)

from durable_core.engine import children, closing, starting, workflow_tasks
from durable_core.engine.transition import Transition
from durable_core.model import cron
from durable_core.model.errors import NamespaceNotFound, NotFound, WorkflowExecutionAlreadyStarted
from durable_core.model.ids import RunKey, WorkflowKey
from durable_core.model.state import ChildInfo, RunState
from durable_core.model.tasks import StartChild, Task
from durable_core.model.times import duration, nanos, timestamp
from durable_core.services import starts
from durable_core.services.context import Context
from durable_core.services.start_requests import policies

_Cause = StartChildWorkflowExecutionFailedCause


def start_child(context: Context, task: Task, body: StartChild) -> None:
    parent = context.runs.find(task.run)
    child = None if parent is None else parent.children.get(body.initiated_event_id)
    if parent is None or child is None:
        return
    if not parent.is_open:
        _stop_unrecorded(context, parent, child)
        return
    initiated = context.reader.event(parent.core, body.initiated_event_id)
    if child.started_event_id:
        _begin(context, child)
        return
    try:
        run_id = _create(context, parent, child, initiated)
    except WorkflowExecutionAlreadyStarted:
        cause = _Cause.START_CHILD_WORKFLOW_EXECUTION_FAILED_CAUSE_WORKFLOW_ALREADY_EXISTS
        _record_failure(context, task, child, cause, initiated)
        return
    except NamespaceNotFound:
        cause = _Cause.START_CHILD_WORKFLOW_EXECUTION_FAILED_CAUSE_NAMESPACE_NOT_FOUND
        _record_failure(context, task, child, cause, initiated)
        return
    recorded = _record_start(context, task, child.initiated_event_id, run_id, initiated)
    if recorded is not None:
        _begin(context, recorded)
    elif (closed := context.runs.find(task.run)) is not None:
        _stop_unrecorded(context, closed, child)


def _create(context: Context, parent: RunState, child: ChildInfo, initiated: HistoryEvent) -> str:
    """The child's run ID; the run is there and has no workflow task yet."""
    attributes = initiated.start_child_workflow_execution_initiated_event_attributes
    namespace = context.namespaces.with_id(child.namespace_id)
    now = context.clock.now()
    starter = starts.Starter(child.request_id, "", links=list(initiated.links))
    new = starting.NewRun(namespace.namespace_id, namespace.name, context.ids.run_id(now), starter.request_id)

    def begin() -> Transition:
        return starting.begin(
            new,
            _attributes(parent, attributes, child, new.run_id, now),
            now,
            context.ids,
            user_metadata=initiated.user_metadata if initiated.HasField("user_metadata") else None,
            waits_for_parent=True,
        )

    chosen = policies(
        attributes.workflow_id_reuse_policy, WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_UNSPECIFIED
    )
    key = WorkflowKey(namespace.namespace_id, child.workflow_id)
    return starts.start(context, key, chosen, starter, begin).run_id


def _attributes(
    parent: RunState,
    initiated: StartChildWorkflowExecutionInitiatedEventAttributes,
    child: ChildInfo,
    run_id: str,
    now: int,
) -> WorkflowExecutionStartedEventAttributes:
    core = parent.core
    execution = nanos(initiated.workflow_execution_timeout)
    backoff = cron.backoff(initiated.cron_schedule, now, now) if initiated.cron_schedule else 0
    root = core.root
    started = WorkflowExecutionStartedEventAttributes(
        workflow_type=initiated.workflow_type,
        parent_workflow_namespace=core.namespace,
        parent_workflow_namespace_id=core.namespace_id,
        parent_workflow_execution=WorkflowExecution(workflow_id=core.workflow_id, run_id=core.run_id),
        parent_initiated_event_id=child.initiated_event_id,
        task_queue=initiated.task_queue,
        input=initiated.input if initiated.HasField("input") else None,
        workflow_execution_timeout=initiated.workflow_execution_timeout
        if initiated.HasField("workflow_execution_timeout")
        else None,
        workflow_run_timeout=initiated.workflow_run_timeout,
        workflow_task_timeout=initiated.workflow_task_timeout,
        original_execution_run_id=run_id,
        first_execution_run_id=run_id,
        retry_policy=initiated.retry_policy if initiated.HasField("retry_policy") else None,
        attempt=1,
        workflow_execution_expiration_time=timestamp(now + backoff + execution) if execution else None,
        cron_schedule=initiated.cron_schedule,
        first_workflow_task_backoff=duration(backoff),
        memo=initiated.memo if initiated.HasField("memo") else None,
        search_attributes=initiated.search_attributes if initiated.HasField("search_attributes") else None,
        header=initiated.header if initiated.HasField("header") else None,
        workflow_id=child.workflow_id,
        root_workflow_execution=WorkflowExecution(
            workflow_id=root.workflow_id if root else core.workflow_id,
            run_id=root.run_id if root else core.run_id,
        ),
    )
    if initiated.HasField("priority"):
        started.priority.CopyFrom(initiated.priority)
    elif core.has_priority:
        started.priority.ParseFromString(core.priority)
    return started


def _record_start(
    context: Context, task: Task, initiated_event_id: int, run_id: str, initiated: HistoryEvent
) -> ChildInfo | None:
    attributes = initiated.start_child_workflow_execution_initiated_event_attributes
    header = attributes.header if attributes.HasField("header") else None

    def decide(t: Transition) -> ChildInfo | None:
        child = t.state.children.get(initiated_event_id)
        if child is None or not t.state.is_open:
            return None
        if child.started_event_id:
            return child
        return children.record_started(t, child, run_id, header)

    return context.runs.update(task.run, decide)


def _record_failure(
    context: Context,
    task: Task,
    child: ChildInfo,
    cause: "StartChildWorkflowExecutionFailedCause.ValueType",
    initiated: HistoryEvent,
) -> None:
    def decide(t: Transition) -> None:
        pending = t.state.children.get(child.initiated_event_id)
        if pending is not None and not pending.started_event_id and t.state.is_open:
            children.record_start_failed(t, pending, cause, initiated)

    context.runs.update(task.run, decide)


def _stop_unrecorded(context: Context, parent: RunState, child: ChildInfo) -> None:
    """The parent closed before it knew that its child had started: the child never begins, whatever its policy.

    Unless the parent was reset and the run that goes on starts the same child.
    """
    key = RunKey(parent.core.namespace_id, parent.core.workflow_id, parent.core.run_id)
    going_on: RunState | None = parent
    while going_on is not None and going_on.core.reset_run_id:
        going_on = context.runs.find(key.workflow.run(going_on.core.reset_run_id))
    if going_on is not None and going_on.is_open:
        same = going_on.children.get(child.initiated_event_id)
        if same is not None and same.request_id == child.request_id:
            return
    workflow = WorkflowKey(child.namespace_id, child.workflow_id)

    def decide(t: Transition) -> None:
        core = t.state.core
        ours = core.start_request_id == child.request_id
        if ours and core.waits_for_parent and t.state.is_open:
            closing.terminate(t, "by parent close policy", None, closing.IDENTITY_HISTORY_SERVICE)

    try:
        context.runs.update(workflow.run(context.runs.current_run_id(workflow)), decide)
    except NotFound:
        return


def _begin(context: Context, child: ChildInfo) -> None:
    """The parent knows of the child: schedule its first workflow task."""
    key = WorkflowKey(child.namespace_id, child.workflow_id).run(child.run_id)

    def decide(t: Transition) -> None:
        core = t.state.core
        if core.waits_for_parent:
            core.waits_for_parent = False
            t.is_dirty = True
            if workflow_tasks.may_schedule(t.state):
                workflow_tasks.schedule(t)

    if context.runs.find(key) is not None:
        context.runs.update(key, decide)
