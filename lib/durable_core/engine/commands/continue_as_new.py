"""CONTINUE_AS_NEW_WORKFLOW_EXECUTION: this run ends and the next one begins, in one transition."""

from temporalio.api.command.v1 import Command, ContinueAsNewWorkflowExecutionCommandAttributes
from temporalio.api.common.v1 import Priority, RetryPolicy, WorkflowType
from temporalio.api.enums.v1 import ContinueAsNewInitiator, EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import (
    HistoryEvent,
    WorkflowExecutionContinuedAsNewEventAttributes,
    WorkflowExecutionStartedEventAttributes,
)
from temporalio.api.taskqueue.v1 import TaskQueue

from durable_core.engine import checks, closing, starting
from durable_core.engine.completion import BadCommand, Completion, check_size, require_attributes
from durable_core.model import limits, retry
from durable_core.model.errors import InvalidArgument
from durable_core.model.payloads import fields_size
from durable_core.model.times import duration, nanos, timestamp

_Cause = WorkflowTaskFailedCause
_BAD = _Cause.WORKFLOW_TASK_FAILED_CAUSE_BAD_CONTINUE_AS_NEW_ATTRIBUTES


def handle(completion: Completion, command: Command) -> HistoryEvent:
    completion.refuse_closing_race()
    require_attributes(command, "continue_as_new_workflow_execution_command_attributes", _BAD)
    attributes = command.continue_as_new_workflow_execution_command_attributes
    t = completion.t
    closed = _closing_attributes(completion, attributes)
    run_id = t.ids.run_id(t.now)
    closed.new_execution_run_id = run_id
    started = _started_attributes(completion, attributes, closed)
    event = t.add(
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW,
        command=command,
        workflow_execution_continued_as_new_event_attributes=closed,
    )
    core = t.state.core
    new = starting.NewRun(core.namespace_id, core.namespace, run_id, t.ids.unique())
    t.successor = starting.begin(new, started, t.now, t.ids)
    closing.after_close(t)
    return event


def _closing_attributes(
    completion: Completion, attributes: ContinueAsNewWorkflowExecutionCommandAttributes
) -> WorkflowExecutionContinuedAsNewEventAttributes:
    core = completion.t.state.core
    workflow_type = attributes.workflow_type.name or core.workflow_type
    if checks.too_long(workflow_type):
        detail = f"WorkflowType={workflow_type} Length={len(workflow_type)} Limit={limits.id_length_max}"
        raise BadCommand(
            _BAD, f"WorkflowType on ContinueAsNewWorkflowExecutionCommand exceeds length limit. {detail}"
        )
    try:
        queue = checks.normalized_queue(attributes.task_queue, core.queue)
    except InvalidArgument as error:
        prefix = "error validating ContinueAsNewWorkflowExecutionCommand TaskQueue"
        raise BadCommand(_BAD, f"{prefix}: {error}. WorkflowType={workflow_type}") from error
    where = f"WorkflowType={workflow_type} TaskQueue={_shown(queue)}"
    run, task, backoff = _time_outs(attributes, where)
    run = checks.run_timeout(run or core.run_timeout, core.execution_timeout)
    task = checks.workflow_task_timeout(task or core.workflow_task_timeout, run)
    _check_sizes(completion, attributes, where)
    return WorkflowExecutionContinuedAsNewEventAttributes(
        workflow_type=WorkflowType(name=workflow_type),
        task_queue=queue,
        input=attributes.input if attributes.HasField("input") else None,
        workflow_run_timeout=duration(run),
        workflow_task_timeout=duration(task),
        workflow_task_completed_event_id=completion.completed_event_id,
        backoff_start_interval=duration(backoff) if attributes.HasField("backoff_start_interval") else None,
        initiator=attributes.initiator,
        failure=attributes.failure if attributes.HasField("failure") else None,
        last_completion_result=attributes.last_completion_result
        if attributes.HasField("last_completion_result")
        else None,
        header=attributes.header if attributes.HasField("header") else None,
        memo=attributes.memo if attributes.HasField("memo") else None,
        search_attributes=checks.typed_search_attributes(attributes.search_attributes, completion.namespace)
        if attributes.HasField("search_attributes")
        else None,
        inherit_build_id=attributes.inherit_build_id,
    )


def _shown(queue: TaskQueue) -> str:
    """A queue as the Temporal server's messages show it."""
    return " ".join(str(queue).replace(": ", ":").split("\n")).strip().replace(" kind", "  kind")


def _time_outs(
    attributes: ContinueAsNewWorkflowExecutionCommandAttributes, where: str
) -> tuple[int, int, int]:
    """Run and task time-outs and the back-off before the new run, in ns."""
    values = []
    for field, value in (
        ("WorkflowRunTimeout", attributes.workflow_run_timeout),
        ("WorkflowTaskTimeout", attributes.workflow_task_timeout),
        ("BackoffStartInterval", attributes.backoff_start_interval),
    ):
        try:
            values.append(checks.valid_duration(value))
        except InvalidArgument as error:
            detail = f"Invalid {field} on ContinueAsNewWorkflowExecutionCommand: {error}."
            raise BadCommand(_BAD, f"{detail} {where}") from error
    run, task, backoff = values
    return run, task, backoff


def _check_sizes(
    completion: Completion, attributes: ContinueAsNewWorkflowExecutionCommandAttributes, where: str
) -> None:
    name = "ContinueAsNewWorkflowExecutionCommandAttributes"
    check_size(attributes.input.ByteSize(), f"{name}. Input", _BAD)
    if fields_size(attributes.memo.fields) > limits.memo_bytes_max:
        raise BadCommand(_BAD, f"{name}. Memo exceeds size limit.", terminates=True)
    try:
        checks.check_search_attributes(attributes.search_attributes, completion.namespace)
    except InvalidArgument as error:
        bad = _Cause.WORKFLOW_TASK_FAILED_CAUSE_BAD_SEARCH_ATTRIBUTES
        raise BadCommand(bad, error.message) from error
    if attributes.HasField("retry_policy"):
        try:
            retry.validate(_filled(attributes))
        except InvalidArgument as error:
            detail = f"invalid WorkflowRetryPolicy on ContinueAsNewWorkflowExecutionCommand: {error}."
            raise BadCommand(_BAD, f"{detail} {where}") from error


def _filled(attributes: ContinueAsNewWorkflowExecutionCommandAttributes) -> RetryPolicy:
    return retry.with_defaults(
        attributes.retry_policy,
        limits.workflow_retry_initial_interval,
        limits.workflow_retry_coefficient,
        limits.workflow_retry_interval_factor,
    )


def _started_attributes(
    completion: Completion,
    attributes: ContinueAsNewWorkflowExecutionCommandAttributes,
    closed: WorkflowExecutionContinuedAsNewEventAttributes,
) -> WorkflowExecutionStartedEventAttributes:
    t = completion.t
    core = t.state.core
    backoff = max(closing.spaced(t, nanos(closed.backoff_start_interval)), 0)
    started = WorkflowExecutionStartedEventAttributes(
        workflow_type=closed.workflow_type,
        task_queue=closed.task_queue,
        input=closed.input if closed.HasField("input") else None,
        workflow_execution_timeout=duration(core.execution_timeout) if core.execution_timeout else None,
        workflow_run_timeout=closed.workflow_run_timeout,
        workflow_task_timeout=closed.workflow_task_timeout,
        initiator=closed.initiator or ContinueAsNewInitiator.CONTINUE_AS_NEW_INITIATOR_WORKFLOW,
        continued_failure=closed.failure if closed.HasField("failure") else None,
        last_completion_result=closed.last_completion_result
        if closed.HasField("last_completion_result")
        else None,
        retry_policy=_filled(attributes) if attributes.HasField("retry_policy") else None,
        attempt=1,
        workflow_execution_expiration_time=timestamp(core.execution_expires_at)
        if core.execution_expires_at
        else None,
        cron_schedule=attributes.cron_schedule,
        first_workflow_task_backoff=duration(backoff)
        if backoff > 0 or closed.HasField("backoff_start_interval")
        else None,
        header=closed.header if closed.HasField("header") else None,
        memo=closed.memo if closed.HasField("memo") else None,
        search_attributes=closed.search_attributes if closed.HasField("search_attributes") else None,
        priority=Priority.FromString(core.priority) if core.has_priority else None,
    )
    closing.carry_over(t, started, closed.new_execution_run_id)
    return started
