"""How a run ends: completed, failed, cancelled, terminated, timed out, continued; and what follows its end.

A retry or a cron continues the chain with a new run that is committed in the same transition.
A newcomer's trap: a failed run with a retry policy is closed as failed all the same; its closing event names the run
that follows, and parents and waiting callers look at the whole chain.
"""

from collections.abc import Sequence

from temporalio.api.command.v1 import Command
from temporalio.api.common.v1 import Link, Payloads, WorkflowExecution
from temporalio.api.enums.v1 import (
    ContinueAsNewInitiator,
    EventType,
    ParentClosePolicy,
    RetryState,
    TimeoutType,
    WorkflowTaskFailedCause,
)
from temporalio.api.failure.v1 import Failure, TimeoutFailureInfo
from temporalio.api.history.v1 import (
    WorkflowExecutionCanceledEventAttributes,
    WorkflowExecutionCompletedEventAttributes,
    WorkflowExecutionFailedEventAttributes,
    WorkflowExecutionStartedEventAttributes,
    WorkflowExecutionTerminatedEventAttributes,
    WorkflowExecutionTimedOutEventAttributes,
)
from temporalio.api.workflow.v1 import ResetPointInfo, ResetPoints

from durable_core.engine import starting, workflow_tasks
from durable_core.engine.transition import Transition
from durable_core.machines import workflow_task
from durable_core.model import cron, limits, retry
from durable_core.model.errors import InvalidArgument
from durable_core.model.ids import SERVICE_QUEUE
from durable_core.model.retry import Verdict
from durable_core.model.tasks import ApplyParentClosePolicy, NotifyParent
from durable_core.model.times import duration, nanos, timestamp

IDENTITY_HISTORY_SERVICE = "history-service"
IDENTITY_RESETTER = "history-resetter"
_Initiator = ContinueAsNewInitiator


def complete(t: Transition, result: Payloads | None, completed_event_id: int, command: Command) -> None:
    delay = cron_delay(t)
    new_run_id = t.ids.run_id(t.now) if delay is not None else ""
    event = t.add(
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
        command=command,
        workflow_execution_completed_event_attributes=WorkflowExecutionCompletedEventAttributes(
            result=result,
            workflow_task_completed_event_id=completed_event_id,
            new_execution_run_id=new_run_id,
        ),
    )
    if delay is not None:
        result = event.workflow_execution_completed_event_attributes.result
        follow(t, new_run_id, delay, _Initiator.CONTINUE_AS_NEW_INITIATOR_CRON_SCHEDULE, result, None)
    after_close(t)


def fail(t: Transition, failure: Failure, completed_event_id: int, command: Command) -> None:
    verdict = retry_verdict(t, failure)
    delay, initiator = following(t, verdict)
    new_run_id = t.ids.run_id(t.now) if delay is not None else ""
    t.add(
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
        command=command,
        workflow_execution_failed_event_attributes=WorkflowExecutionFailedEventAttributes(
            failure=failure,
            retry_state=verdict.state,
            workflow_task_completed_event_id=completed_event_id,
            new_execution_run_id=new_run_id,
        ),
    )
    if delay is not None:
        follow(t, new_run_id, delay, initiator, None, failure)
    after_close(t)


def cancel(t: Transition, details: Payloads | None, completed_event_id: int, command: Command) -> None:
    t.add(
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
        command=command,
        workflow_execution_canceled_event_attributes=WorkflowExecutionCanceledEventAttributes(
            details=details, workflow_task_completed_event_id=completed_event_id
        ),
    )
    after_close(t)


def terminate(
    t: Transition,
    reason: str,
    details: Payloads | None,
    identity: str,
    links: Sequence[Link] = (),
    *,
    tells_parent: bool = True,
) -> None:
    """End the run from outside. `tells_parent` False: for a child's parent it goes on in another run."""
    _force_close_workflow_task(t)
    t.add(
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
        links=links,
        workflow_execution_terminated_event_attributes=WorkflowExecutionTerminatedEventAttributes(
            reason=reason, details=details, identity=identity
        ),
    )
    after_close(t, tells_parent=tells_parent)


def _force_close_workflow_task(t: Transition) -> None:
    """A started task fails, so that what waited for it can enter the history before the end."""
    core = t.state.core
    task = core.workflow_task
    if task is not None and task.started_event_id and not workflow_task.is_transient(task):
        if task.speculative:
            task = workflow_tasks.write(t, task, IDENTITY_HISTORY_SERVICE)
        cause = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND
        workflow_tasks.fail(t, task, cause, None, IDENTITY_HISTORY_SERVICE)
    core.workflow_task = None
    t.flush()


def time_out(t: Transition) -> None:
    """The run (or the whole execution) took too long. Only a run's time-out is retried or followed by a cron."""
    core = t.state.core
    expired = core.execution_expires_at and t.now >= core.execution_expires_at
    failure = Failure(
        message="workflow timeout",
        source="Server",
        timeout_failure_info=TimeoutFailureInfo(timeout_type=TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE),
    )
    verdict = Verdict(None, RetryState.RETRY_STATE_TIMEOUT)
    delay, initiator = None, _Initiator.CONTINUE_AS_NEW_INITIATOR_UNSPECIFIED
    if not expired:
        verdict = retry_verdict(t, failure)
        delay, initiator = following(t, verdict)
    new_run_id = t.ids.run_id(t.now) if delay is not None else ""
    _force_close_workflow_task(t)
    t.add(
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
        workflow_execution_timed_out_event_attributes=WorkflowExecutionTimedOutEventAttributes(
            retry_state=verdict.state, new_execution_run_id=new_run_id
        ),
    )
    if delay is not None:
        follow(t, new_run_id, delay, initiator, None, failure)
    after_close(t)


def cron_delay(t: Transition) -> int | None:
    """The back-off of the cron's next run, or None where there is none."""
    core = t.state.core
    if not core.cron:
        return None
    try:
        delay = cron.backoff(core.cron, core.execution_at, t.now)
    except InvalidArgument:
        return None  # Continue-as-new takes any text for a schedule, and a run must be able to close.
    if core.execution_expires_at and t.now + delay > core.execution_expires_at:
        return None
    return delay


def retry_verdict(t: Transition, failure: Failure) -> Verdict:
    core = t.state.core
    next_delay = 0
    if failure.HasField("application_failure_info"):
        next_delay = nanos(failure.application_failure_info.next_retry_delay)
    return retry.decide(core.retry, core.attempt, failure, t.now, core.execution_expires_at, next_delay)


def following(t: Transition, verdict: Verdict) -> "tuple[int | None, ContinueAsNewInitiator.ValueType]":
    """Whether a run follows a failure: a retry first, else the next run of a cron."""
    if verdict.delay is not None:
        return verdict.delay, _Initiator.CONTINUE_AS_NEW_INITIATOR_RETRY
    return cron_delay(t), _Initiator.CONTINUE_AS_NEW_INITIATOR_CRON_SCHEDULE


def follow(
    t: Transition,
    run_id: str,
    delay: int,
    initiator: "ContinueAsNewInitiator.ValueType",
    last_result: Payloads | None,
    failure: Failure | None,
) -> None:
    """Begin the run that retries this one, or the next one of its cron."""
    first = t.first_event()
    old = first.workflow_execution_started_event_attributes
    is_retry = initiator == _Initiator.CONTINUE_AS_NEW_INITIATOR_RETRY
    attributes = WorkflowExecutionStartedEventAttributes()
    attributes.CopyFrom(old)
    attributes.attempt = old.attempt + 1 if is_retry else 1
    attributes.first_workflow_task_backoff.CopyFrom(duration(spaced(t, delay)))
    attributes.initiator = initiator
    attributes.ClearField("continued_failure")
    attributes.ClearField("identity")
    if failure is not None:
        attributes.continued_failure.CopyFrom(failure)
    attributes.ClearField("workflow_execution_expiration_time")
    if t.state.core.execution_expires_at:
        expiry = timestamp(t.state.core.execution_expires_at)
        attributes.workflow_execution_expiration_time.CopyFrom(expiry)
    if not is_retry and last_result is not None:
        attributes.last_completion_result.CopyFrom(last_result)
    carry_over(t, attributes, run_id)
    core = t.state.core
    t.successor = starting.begin(
        starting.NewRun(core.namespace_id, core.namespace, run_id, t.ids.unique()),
        attributes,
        t.now,
        t.ids,
        user_metadata=first.user_metadata if first.HasField("user_metadata") else None,
        links=first.links,
    )


def spaced(t: Transition, delay: int) -> int:
    """The back-off in ns before a following run: a chain begins a run at most about once a second."""
    lifetime = t.now - t.state.core.execution_at
    return max(delay, limits.run_interval_min - lifetime)


def carry_over(t: Transition, attributes: WorkflowExecutionStartedEventAttributes, run_id: str) -> None:
    """What every following run of a chain inherits from the one before."""
    core = t.state.core
    attributes.workflow_id = core.workflow_id
    attributes.continued_execution_run_id = core.run_id
    attributes.original_execution_run_id = run_id
    attributes.first_execution_run_id = core.first_run_id
    if core.parent is not None:
        parent = core.parent
        attributes.parent_workflow_namespace = parent.namespace
        attributes.parent_workflow_namespace_id = parent.namespace_id
        attributes.parent_workflow_execution.CopyFrom(
            WorkflowExecution(workflow_id=parent.workflow_id, run_id=parent.run_id)
        )
        attributes.parent_initiated_event_id = parent.initiated_event_id
    if core.root is not None:
        attributes.root_workflow_execution.CopyFrom(
            WorkflowExecution(workflow_id=core.root.workflow_id, run_id=core.root.run_id)
        )
    points = [ResetPointInfo.FromString(blob) for blob in core.reset_points]
    for point in points:
        if not point.HasField("expire_time"):
            point.expire_time.CopyFrom(timestamp(t.now))
    core.reset_points = tuple(point.SerializeToString() for point in points)
    attributes.prev_auto_reset_points.CopyFrom(ResetPoints(points=points))


def after_close(t: Transition, *, tells_parent: bool = True) -> None:
    """Leave the tasks that a closed run owes to its parent and to its children.

    A run that was reset leaves its children to the run that goes on from it.
    """
    core = t.state.core
    assert core.closed_at
    t.flush()
    t.wants_workflow_task = False
    t.tasks = [task for task in t.tasks if task[0] == SERVICE_QUEUE.name]
    if core.parent is not None and t.successor is None and tells_parent:
        t.service_task(NotifyParent())
    if core.reset_run_id:
        return
    abandon = ParentClosePolicy.PARENT_CLOSE_POLICY_ABANDON
    if any(child.parent_close_policy != abandon for child in t.state.children.values()):
        t.service_task(ApplyParentClosePolicy())
