"""START_CHILD_WORKFLOW_EXECUTION: recorded now, started by the history service."""

from msgspec.structs import replace
from temporalio.api.command.v1 import Command, StartChildWorkflowExecutionCommandAttributes
from temporalio.api.common.v1 import RetryPolicy
from temporalio.api.enums.v1 import (
    EventType,
    ParentClosePolicy,
    WorkflowIdReusePolicy,
    WorkflowTaskFailedCause,
)
from temporalio.api.history.v1 import HistoryEvent, StartChildWorkflowExecutionInitiatedEventAttributes

from durable_core.engine import checks
from durable_core.engine.completion import BadCommand, Completion, check_size, require_attributes
from durable_core.model import cron, limits, retry
from durable_core.model.errors import InvalidArgument
from durable_core.model.namespace import Namespace
from durable_core.model.payloads import fields_size
from durable_core.model.tasks import StartChild
from durable_core.model.times import duration

_Cause = WorkflowTaskFailedCause
_BAD = _Cause.WORKFLOW_TASK_FAILED_CAUSE_BAD_START_CHILD_EXECUTION_ATTRIBUTES


def handle(completion: Completion, command: Command) -> HistoryEvent:
    require_attributes(command, "start_child_workflow_execution_command_attributes", _BAD)
    attributes = command.start_child_workflow_execution_command_attributes
    t = completion.t
    target = completion.own_namespace(attributes.namespace, _BAD)
    initiated = _normalized(completion, attributes, target)
    check_size(attributes.input.ByteSize(), "StartChildWorkflowExecutionCommandAttributes. Input", _BAD)
    if fields_size(attributes.memo.fields) > limits.memo_bytes_max:
        detail = "StartChildWorkflowExecutionCommandAttributes.Memo exceeds size limit."
        raise BadCommand(_BAD, detail, terminates=True)
    if len(t.state.children) >= limits.pending_children_max:
        raise BadCommand(
            _Cause.WORKFLOW_TASK_FAILED_CAUSE_PENDING_CHILD_WORKFLOWS_LIMIT_EXCEEDED,
            f"the number of pending child workflow executions, {len(t.state.children)}, has reached the "
            f"per-workflow limit of {limits.pending_children_max}",
        )
    event = t.add(
        EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED,
        command=command,
        start_child_workflow_execution_initiated_event_attributes=initiated,
    )
    info = t.state.children.get(event.event_id)
    assert info is not None
    request_id = f"{t.state.core.run_id}:{event.event_id}:0"
    t.state.children.put(event.event_id, replace(info, request_id=request_id))
    t.service_task(StartChild(event.event_id))
    completion.children.add(attributes.workflow_id)
    return event


def _normalized(
    completion: Completion, attributes: StartChildWorkflowExecutionCommandAttributes, target: Namespace
) -> StartChildWorkflowExecutionInitiatedEventAttributes:
    core = completion.t.state.core
    where = (
        f"WorkflowId={attributes.workflow_id} WorkflowType={attributes.workflow_type.name} "
        f"Namespace={attributes.namespace or target.name}"
    )
    _check_names(attributes, where)
    execution, run, task = _time_outs(attributes, where)
    policy = _retry_policy(attributes, where)
    _check_values(attributes, target, where)
    queue = checks.normalized_queue(attributes.task_queue, core.queue)
    return StartChildWorkflowExecutionInitiatedEventAttributes(
        namespace=target.name,
        namespace_id=target.namespace_id,
        workflow_id=attributes.workflow_id,
        workflow_type=attributes.workflow_type,
        task_queue=queue,
        input=attributes.input if attributes.HasField("input") else None,
        workflow_execution_timeout=duration(execution) if execution else None,
        workflow_run_timeout=duration(run),
        workflow_task_timeout=duration(task),
        parent_close_policy=attributes.parent_close_policy or ParentClosePolicy.PARENT_CLOSE_POLICY_TERMINATE,
        control=attributes.control,
        workflow_task_completed_event_id=completion.completed_event_id,
        workflow_id_reuse_policy=attributes.workflow_id_reuse_policy
        or WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
        retry_policy=policy,
        cron_schedule=attributes.cron_schedule,
        header=attributes.header if attributes.HasField("header") else None,
        memo=attributes.memo if attributes.memo.fields else None,
        search_attributes=checks.typed_search_attributes(attributes.search_attributes, target)
        if attributes.HasField("search_attributes")
        else None,
        inherit_build_id=attributes.inherit_build_id,
        priority=attributes.priority if attributes.HasField("priority") else None,
    )


def _retry_policy(attributes: StartChildWorkflowExecutionCommandAttributes, where: str) -> RetryPolicy | None:
    if not attributes.HasField("retry_policy"):
        return None
    try:
        policy = retry.with_defaults(
            attributes.retry_policy,
            limits.workflow_retry_initial_interval,
            limits.workflow_retry_coefficient,
            limits.workflow_retry_interval_factor,
        )
        retry.validate(policy)
    except InvalidArgument as error:
        detail = f"invalid WorkflowRetryPolicy on StartChildWorkflowExecutionCommand: {error}. {where}"
        raise BadCommand(_BAD, detail) from error
    return policy


def _check_values(
    attributes: StartChildWorkflowExecutionCommandAttributes, target: Namespace, where: str
) -> None:
    try:
        cron.validate(attributes.cron_schedule)
    except InvalidArgument as error:
        detail = f"invalid CronSchedule on StartChildWorkflowExecutionCommand: {error}. {where}"
        raise BadCommand(_BAD, detail) from error
    try:
        checks.check_search_attributes(attributes.search_attributes, target)
    except InvalidArgument as error:
        bad = _Cause.WORKFLOW_TASK_FAILED_CAUSE_BAD_SEARCH_ATTRIBUTES
        raise BadCommand(bad, error.message) from error


def _check_names(attributes: StartChildWorkflowExecutionCommandAttributes, where: str) -> None:
    name = "StartChildWorkflowExecutionCommand"
    workflow_type = attributes.workflow_type.name
    namespace = where.rpartition("Namespace=")[2]
    if not attributes.workflow_id:
        detail = f"WorkflowType={workflow_type} Namespace={namespace}"
        raise BadCommand(_BAD, f"Required field WorkflowId is not set on {name}. {detail}")
    if not workflow_type:
        detail = f"WorkflowId={attributes.workflow_id} Namespace={namespace}"
        raise BadCommand(_BAD, f"Required field WorkflowType is not set on {name}. {detail}")
    for field, value in (("WorkflowId", attributes.workflow_id), ("WorkflowType", workflow_type)):
        if checks.too_long(value):
            bounds = f"Length={len(value)} Limit={limits.id_length_max}"
            detail = where.replace(f"{field}={value}", f"{field}={value} {bounds}")
            raise BadCommand(_BAD, f"{field} on {name} exceeds length limit. {detail}")


def _time_outs(attributes: StartChildWorkflowExecutionCommandAttributes, where: str) -> tuple[int, int, int]:
    """Execution, run and task time-outs in ns; the run is bounded by the execution, the task by the run."""
    values = []
    for field, value in (
        ("WorkflowExecutionTimeout", attributes.workflow_execution_timeout),
        ("WorkflowRunTimeout", attributes.workflow_run_timeout),
        ("WorkflowTaskTimeout", attributes.workflow_task_timeout),
    ):
        try:
            values.append(checks.valid_duration(value))
        except InvalidArgument as error:
            detail = f"Invalid {field} on StartChildWorkflowExecutionCommand: {error}. {where}"
            raise BadCommand(_BAD, detail) from error
    execution, run, task = values
    run = checks.run_timeout(run, execution)
    return execution, run, checks.workflow_task_timeout(task, run)
