"""Starting a workflow ID's next run under its policies: for a client, or for a parent."""

from collections.abc import Callable
from dataclasses import dataclass, field

from temporalio.api.common.v1 import Link
from temporalio.api.enums.v1 import (
    EventType,
    WorkflowExecutionStatus,
    WorkflowIdConflictPolicy,
    WorkflowIdReusePolicy,
)
from temporalio.api.history.v1 import WorkflowExecutionOptionsUpdatedEventAttributes
from temporalio.api.workflow.v1 import OnConflictOptions
from temporalio.api.workflowservice.v1 import StartWorkflowExecutionRequest

from durable_core.engine import closing
from durable_core.engine.transition import Transition
from durable_core.model.errors import WorkflowExecutionAlreadyStarted
from durable_core.model.ids import WorkflowKey
from durable_core.model.payloads import text
from durable_core.model.state import RunState
from durable_core.services.context import Context
from durable_core.services.start_requests import Policies
from durable_core.services.unit_of_work import Start

_Status = WorkflowExecutionStatus
_Reuse = WorkflowIdReusePolicy
_Conflict = WorkflowIdConflictPolicy


@dataclass(frozen=True, slots=True)
class Started:
    """The run that serves the request; `new`: this request began it; `attached`: its ID was added to it."""

    run_id: str
    first_run_id: str
    status: int
    new: bool
    attached: bool = False


@dataclass(frozen=True, slots=True)
class Starter:
    """Who starts, and what to attach to a run that is used as it is."""

    request_id: str
    identity: str
    on_conflict: OnConflictOptions | None = None
    links: list[Link] = field(default_factory=list)


def start(
    context: Context,
    key: WorkflowKey,
    chosen: Policies,
    starter: Starter,
    begin: Callable[[], Transition],
) -> Started:
    """Begin a run with `begin`, or find the one that serves the request already.

    Raises `WorkflowExecutionAlreadyStarted` where the policies allow neither.
    """
    return context.runs.start(key, decision(context, chosen, starter, begin))


def decision(
    context: Context, chosen: Policies, starter: Starter, begin: Callable[[], Transition]
) -> Callable[[RunState | None], Start[Started]]:
    """What to do about the current run of a workflow ID, or about there being none."""

    def decide(current: RunState | None) -> Start[Started]:
        if current is None:
            return new(begin())
        core = current.core
        if core.start_request_id == starter.request_id:
            return Start(Started(core.run_id, core.first_run_id, core.status, new=True))
        if not current.is_open:
            check_reuse(current, chosen)
            return new(begin())
        if starter.request_id in core.attached_requests:
            return Start(Started(core.run_id, core.first_run_id, core.status, new=False, attached=True))
        if chosen.conflict == _Conflict.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING:
            return replace(context, current, begin())
        if chosen.conflict == _Conflict.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING:
            return _use_existing(context, current, starter)
        raise WorkflowExecutionAlreadyStarted(
            f"Workflow execution is already running. WorkflowId: {core.workflow_id}, RunId: {core.run_id}.",
            core.start_request_id,
            core.run_id,
            core.first_run_id,
        )

    return decide


def link(request: StartWorkflowExecutionRequest, started: Started) -> Link:
    """To the event that the request left: the started one, or the one that attached its request ID."""
    event = Link.WorkflowEvent(
        namespace=request.namespace, workflow_id=request.workflow_id, run_id=started.run_id
    )
    if started.attached:
        event.request_id_ref.request_id = request.request_id
        event.request_id_ref.event_type = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_OPTIONS_UPDATED
    else:
        event.event_ref.event_id = 1
        event.event_ref.event_type = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED
    return Link(workflow_event=event)


def new(t: Transition) -> Start[Started]:
    """The outcome of a start that begins a run and touches no other."""
    core = t.state.core
    return Start(Started(core.run_id, core.first_run_id, core.status, new=True), new=t)


def check_reuse(current: RunState, chosen: Policies) -> None:
    """Raise `WorkflowExecutionAlreadyStarted` where no run may follow the closed one."""
    core = current.core
    where = f"WorkflowId: {core.workflow_id}, RunId: {core.run_id}."
    if chosen.reuse == _Reuse.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE:
        raise WorkflowExecutionAlreadyStarted(
            f"Workflow execution already finished. {where} "
            "Workflow Id reuse policy: reject duplicate workflow Id.",
            core.start_request_id,
            core.run_id,
            core.first_run_id,
        )
    failed_only = chosen.reuse == _Reuse.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY
    if failed_only and core.status == _Status.WORKFLOW_EXECUTION_STATUS_COMPLETED:
        raise WorkflowExecutionAlreadyStarted(
            f"Workflow execution already finished successfully. {where} "
            "Workflow Id reuse policy: allow duplicate workflow Id if last run failed.",
            core.start_request_id,
            core.run_id,
            core.first_run_id,
        )


def replace(context: Context, current: RunState, new: Transition) -> Start[Started]:
    """Terminate the open run and begin the new one, in one transaction."""
    t = context.runs.fork(current)
    core = new.state.core
    closing.terminate(
        t,
        "TerminateIfRunning WorkflowIdReusePolicy",
        text(f"terminated by new runID: {core.run_id}"),
        closing.IDENTITY_HISTORY_SERVICE,
    )
    return Start(Started(core.run_id, core.first_run_id, core.status, new=True), new=new, existing=t)


def _use_existing(context: Context, current: RunState, starter: Starter) -> Start[Started]:
    """Answer with the open run; attach to it what the request asks for."""
    core = current.core
    options = starter.on_conflict
    if options is None or not (
        options.attach_request_id or options.attach_completion_callbacks or options.attach_links
    ):
        return Start(Started(core.run_id, core.first_run_id, core.status, new=False))
    t = context.runs.fork(current)
    t.add(
        EventType.EVENT_TYPE_WORKFLOW_EXECUTION_OPTIONS_UPDATED,
        links=starter.links if options.attach_links else [],
        worker_may_ignore=True,
        workflow_execution_options_updated_event_attributes=WorkflowExecutionOptionsUpdatedEventAttributes(
            attached_request_id=starter.request_id if options.attach_request_id else "",
        ),
    )
    attached = options.attach_request_id
    found = Started(core.run_id, core.first_run_id, core.status, new=False, attached=attached)
    return Start(found, existing=t)
