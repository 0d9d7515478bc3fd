"""Resetting a run: a new run goes on from a workflow task of an old one, whose history it shares up to there.

What is pending at that point is pending in the new run: its activities are scheduled anew, its timers run on, its
children stay. What came later from outside is reapplied, each event once.
A newcomer's trap: the new run's start, and its time-outs, count from the reset; its first event is the old run's.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace
from temporalio.api.common.v1 import Payloads
from temporalio.api.enums.v1 import (
    EventType,
    ResetReapplyExcludeType,
    RetryState,
    UpdateAdmittedEventOrigin,
    WorkflowTaskFailedCause,
)
from temporalio.api.failure.v1 import Failure, ResetWorkflowFailureInfo
from temporalio.api.history.v1 import (
    ActivityTaskFailedEventAttributes,
    HistoryEvent,
    WorkflowExecutionSignaledEventAttributes,
    WorkflowExecutionUpdateAdmittedEventAttributes,
    WorkflowTaskFailedEventAttributes,
)

from durable_core.engine import activities, closing, replay, workflow_tasks
from durable_core.engine.transition import Transition
from durable_core.engine.workflow_tasks import Claim
from durable_core.model.errors import InvalidArgument
from durable_core.model.state import ActivityInfo, BranchSpan, Core, RunState
from durable_core.model.tasks import CancelExternal, SignalExternal, StartChild
from durable_core.ports.clock import Ids

T = EventType
_NO_REQUEST = "emptyUuid"
_START_FAILED = "start_child_workflow_execution_failed_event_attributes"
_CHILD_EVENTS: dict[int, str] = {
    T.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_FAILED: _START_FAILED,
    T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED: "child_workflow_execution_started_event_attributes",
    T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED: "child_workflow_execution_completed_event_attributes",
    T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED: "child_workflow_execution_failed_event_attributes",
    T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED: "child_workflow_execution_canceled_event_attributes",
    T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TIMED_OUT: "child_workflow_execution_timed_out_event_attributes",
    T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED: "child_workflow_execution_terminated_event_attributes",
}


_UPDATE_EVENTS = (
    T.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ADMITTED,
    T.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
)


@dataclass(frozen=True, slots=True)
class Reset:
    """What to do: go on from just before event `event_id`, in a run with this ID."""

    run_id: str
    request_id: str
    event_id: int
    reason: str


def begin(
    base: RunState, current: Core, reset: Reset, kept: Iterable[HistoryEvent], now: int, ids: Ids
) -> Transition:
    """The transition that creates the new run, up to the failure of the task that it goes on from.

    `kept` are the events before `reset.event_id`. Raises `InvalidArgument` where no workflow task is pending there.
    """
    old = base.core
    core = Core(
        namespace_id=old.namespace_id,
        namespace=old.namespace,
        run_id=reset.run_id,
        start_request_id=old.start_request_id,
        branch_id=reset.run_id,
        ancestors=_ancestors(old, reset.event_id),
        reset_requests=(*current.reset_requests, reset.request_id),
    )
    t = Transition(RunState(core), now, ids)
    replay.fold(kept, t.state)
    t.origin.core.history_bytes = t.state.core.history_bytes  # The kept history is what was there before.
    _restart_clocks(t.state.core, now)
    _fail_workflow_task(t, old.run_id, reset)
    for info in list(t.state.activities.values()):
        _renew(t, info, reset)
    _resend(t, base)
    return t


def _ancestors(core: Core, end: int) -> tuple[BranchSpan, ...]:
    """The branches that hold the events before `end`."""
    spans = []
    for span in (*core.ancestors, BranchSpan(core.branch_id, end)):
        spans.append(BranchSpan(span.branch_id, min(span.end_event_id, end)))
        if span.end_event_id >= end:
            break
    return tuple(spans)


def _restart_clocks(core: Core, now: int) -> None:
    core.original_started_at = core.started_at
    core.reset_at = core.started_at = core.execution_at = now
    core.execution_expires_at = now + core.execution_timeout if core.execution_timeout else 0
    core.run_expires_at = now + core.run_timeout if core.run_timeout else 0
    if core.execution_expires_at and core.run_expires_at > core.execution_expires_at:
        core.run_expires_at = core.execution_expires_at


def _failure(reset: Reset, heartbeat: bytes = b"") -> Failure:
    info = ResetWorkflowFailureInfo()
    if heartbeat:
        info.last_heartbeat_details.CopyFrom(Payloads.FromString(heartbeat))
    return Failure(message=reset.reason, reset_workflow_failure_info=info)


def _fail_workflow_task(t: Transition, base_run_id: str, reset: Reset) -> None:
    task = t.state.core.workflow_task
    if task is None:
        raise InvalidArgument(
            "Can only reset workflow to event ID in range [WorkflowTaskScheduled +1, WorkflowTaskStarted + 1]: "
            f"{reset.event_id}"
        )
    if not task.started_event_id:
        task = workflow_tasks.start(t, Claim(_NO_REQUEST, closing.IDENTITY_HISTORY_SERVICE))
    t.add(
        T.EVENT_TYPE_WORKFLOW_TASK_FAILED,
        workflow_task_failed_event_attributes=WorkflowTaskFailedEventAttributes(
            scheduled_event_id=task.scheduled_event_id,
            started_event_id=task.started_event_id,
            cause=WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW,
            failure=_failure(reset),
            identity=closing.IDENTITY_HISTORY_SERVICE,
            base_run_id=base_run_id,
            new_run_id=reset.run_id,
        ),
    )


def _renew(t: Transition, info: ActivityInfo, reset: Reset) -> None:
    """A pending activity begins anew, but for one whose start is in the kept history: that one fails."""
    if info.started_event_id:
        t.add(
            T.EVENT_TYPE_ACTIVITY_TASK_FAILED,
            activity_task_failed_event_attributes=ActivityTaskFailedEventAttributes(
                failure=_failure(reset, info.heartbeat_details),
                scheduled_event_id=info.scheduled_event_id,
                started_event_id=info.started_event_id,
                retry_state=RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE,
                identity=info.identity,
            ),
        )
        return
    renewed = replace(info, scheduled_at=t.now, attempt_scheduled_at=t.now)
    activities.put(t, renewed)
    activities.dispatch(t, renewed)


def _resend(t: Transition, base: RunState) -> None:
    """Requests to other executions that the kept history does not show as answered are made again.

    A child's start keeps its request ID, so that a child which the old run just created is found and not refused.
    """
    state = t.state
    for child in list(state.children.values()):
        if child.started_event_id:
            continue
        known = base.children.get(child.initiated_event_id)
        request_id = known.request_id if known else f"{state.core.run_id}:{child.initiated_event_id}:0"
        state.children.put(child.initiated_event_id, replace(child, request_id=request_id))
    for info in list(state.signals.values()):
        state.signals.put(info.initiated_event_id, replace(info, request_id=t.ids.unique()))
        t.service_task(SignalExternal(info.initiated_event_id))
    for info in list(state.cancels.values()):
        state.cancels.put(info.initiated_event_id, replace(info, request_id=t.ids.unique()))
        t.service_task(CancelExternal(info.initiated_event_id))


def reapply(
    t: Transition, events: Iterable[HistoryEvent], excluded: "frozenset[ResetReapplyExcludeType.ValueType]"
) -> None:
    """Add again what came from outside after the point. The old run's events stay as they are."""
    for event in events:
        kind = event.event_type
        if kind == T.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
            if ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL not in excluded:
                signaled = WorkflowExecutionSignaledEventAttributes()
                signaled.CopyFrom(event.workflow_execution_signaled_event_attributes)
                signaled.ClearField("external_workflow_execution")  # As on the Temporal server.
                t.add(kind, links=event.links, workflow_execution_signaled_event_attributes=signaled)
        elif kind == T.EVENT_TYPE_WORKFLOW_EXECUTION_OPTIONS_UPDATED:
            updated = event.workflow_execution_options_updated_event_attributes
            t.add(
                kind,
                links=event.links,
                worker_may_ignore=event.worker_may_ignore,
                workflow_execution_options_updated_event_attributes=updated,
            )
        elif (
            ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_UPDATE not in excluded
            and kind in _UPDATE_EVENTS
        ):
            _reapply_update(t, event)
        elif kind in _CHILD_EVENTS:
            _reapply_child_event(t, event, _CHILD_EVENTS[kind])


def _reapply_update(t: Transition, event: HistoryEvent) -> None:
    """Admit the update in the new run. An acceptance without the request follows an admission, which has it."""
    admitted = WorkflowExecutionUpdateAdmittedEventAttributes()
    if event.event_type == T.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ADMITTED:
        admitted.CopyFrom(event.workflow_execution_update_admitted_event_attributes)
    else:
        accepted = event.workflow_execution_update_accepted_event_attributes
        if not accepted.HasField("accepted_request"):
            return
        admitted.request.CopyFrom(accepted.accepted_request)
        admitted.origin = UpdateAdmittedEventOrigin.UPDATE_ADMITTED_EVENT_ORIGIN_REAPPLY
    if admitted.request.meta.update_id in t.state.updates:
        return  # A run that continued this one may have used the ID again.
    t.add(
        T.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ADMITTED,
        workflow_execution_update_admitted_event_attributes=admitted,
    )


def _reapply_child_event(t: Transition, event: HistoryEvent, field: str) -> None:
    """What became of a child that is pending at the point."""
    copied = HistoryEvent()
    copied.CopyFrom(event)
    told: Any = getattr(copied, field)
    child = t.state.children.get(told.initiated_event_id)
    if child is None:
        return
    named = told if field == _START_FAILED else told.workflow_execution
    if named.workflow_id != child.workflow_id:
        return  # It is about a child of a later run, whose events have the same numbers.
    attributes: dict[str, Any] = {field: told}
    if event.event_type == T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED:
        if child.started_event_id:
            return
    elif field != _START_FAILED:
        told.started_event_id = child.started_event_id
    t.add(event.event_type, **attributes)


def finish(t: Transition) -> None:
    """Everything is reapplied: children that never started are started, and the next workflow task is scheduled."""
    for child in t.state.children.values():
        if not child.started_event_id:
            t.service_task(StartChild(child.initiated_event_id))
    workflow_tasks.schedule(t)
