"""ResetWorkflowExecution: terminate the current run and go on, in a new run, from a workflow task of an old one.

A newcomer's trap: up to three runs change in one transaction: the one that is reset, the current one, and the new one.
"""

from collections.abc import Iterator

from temporalio.api.enums.v1 import EventType, ResetReapplyExcludeType, ResetReapplyType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest, ResetWorkflowExecutionResponse

from durable_core.engine import checks, closing, resetting
from durable_core.engine.resetting import Reset
from durable_core.engine.transition import Transition
from durable_core.model.errors import InvalidArgument, NotFound, Unimplemented
from durable_core.model.state import Core, RunState
from durable_core.services import claims, lookup
from durable_core.services.context import Context
from durable_core.services.unit_of_work import Start

_Exclude = ResetReapplyExcludeType


def reset_workflow_execution(
    context: Context, request: ResetWorkflowExecutionRequest
) -> ResetWorkflowExecutionResponse:
    namespace = context.namespaces.named(request.namespace)
    _check(request)
    key = lookup.run_key(context, namespace.namespace_id, request.workflow_execution)
    reset = Reset(
        context.ids.run_id(context.clock.now()),
        request.request_id,
        request.workflow_task_finish_event_id,
        request.reason,
    )
    excluded = _excluded(request)

    def decide(current: RunState | None) -> Start[str]:
        base = context.runs.read(key)
        if current is None:
            raise NotFound(f"workflow not found for ID: {key.workflow_id}")
        _check_point(request, base.core)
        if request.request_id in (current.core.start_request_id, *current.core.reset_requests):
            return Start(current.core.run_id)
        return _reset(context, base, current, reset, excluded)

    return ResetWorkflowExecutionResponse(run_id=context.runs.start(key.workflow, decide))


def _check(request: ResetWorkflowExecutionRequest) -> None:
    lookup.check_present(request, "workflow_execution")
    lookup.check_execution(request.workflow_execution)
    if not request.request_id:
        raise InvalidArgument("RequestId is not set on request.")
    if checks.too_long(request.request_id):
        raise InvalidArgument("RequestId length exceeds limit.")


def _check_point(request: ResetWorkflowExecutionRequest, base: Core) -> None:
    if not 1 < request.workflow_task_finish_event_id < base.next_event_id:
        raise InvalidArgument("Workflow task finish ID must be > 1 && <= workflow last event ID.")
    for operation in request.post_reset_operations:
        match operation.WhichOneof("variant"):
            case "update_workflow_options":
                raise Unimplemented("update_workflow_options is not supported yet.")
            case "signal_workflow":
                kind = "*workflow.PostResetOperation_SignalWorkflow_"
                raise InvalidArgument(f"unsupported post reset operation: {kind}")
            case _:
                raise InvalidArgument("unsupported post reset operation: <nil>")


def _excluded(request: ResetWorkflowExecutionRequest) -> "frozenset[ResetReapplyExcludeType.ValueType]":
    """What is not reapplied: by the newer field, and by the older one that says what is."""
    excluded = set(request.reset_reapply_exclude_types)
    if request.reset_reapply_type == ResetReapplyType.RESET_REAPPLY_TYPE_SIGNAL:
        excluded.add(_Exclude.RESET_REAPPLY_EXCLUDE_TYPE_UPDATE)
    elif request.reset_reapply_type == ResetReapplyType.RESET_REAPPLY_TYPE_NONE:
        excluded.add(_Exclude.RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL)
        excluded.add(_Exclude.RESET_REAPPLY_EXCLUDE_TYPE_UPDATE)
    return frozenset(excluded)


def _reset(
    context: Context,
    base: RunState,
    current: RunState,
    reset: Reset,
    excluded: "frozenset[ResetReapplyExcludeType.ValueType]",
) -> Start[str]:
    if not context.reader.ends_a_node(base.core, reset.event_id - 1):
        raise InvalidArgument(
            f"StateRebuilder unable to Rebuild mutable state to event ID: {reset.event_id - 1}, version: 0, "
            "this event must be at the boundary"
        )
    kept = context.reader.events(base.core, 1, reset.event_id)
    new = resetting.begin(base, current.core, reset, kept, context.clock.now(), context.ids)
    base_t = context.runs.fork(base)
    base_t.state.core.reset_run_id = reset.run_id
    base_t.is_dirty = True
    is_current = base.core.run_id == current.core.run_id
    current_t = base_t if is_current else context.runs.fork(current)
    if current.is_open:
        resetter = closing.IDENTITY_RESETTER
        closing.terminate(current_t, reset.reason, None, resetter, tells_parent=False)
    if not _excludes_everything(excluded):
        resetting.reapply(new, _later(context, base, reset.event_id, current_t), excluded)
    resetting.finish(new)
    return Start(reset.run_id, new, current_t, None if is_current else base_t)


def _excludes_everything(excluded: "frozenset[ResetReapplyExcludeType.ValueType]") -> bool:
    return excluded.issuperset(value for value in _Exclude.values() if value)


def _later(context: Context, base: RunState, first: int, current: Transition) -> Iterator[HistoryEvent]:
    """The events after the point: of the run itself, of those that continued it, and those of the termination."""
    run, position = base, first
    while True:
        last = None
        for event in context.reader.events(run.core, position, run.core.next_event_id):
            yield event
            last = event
        following = _continued_in(last)
        if not following:
            break
        run, position = context.runs.read(claims.key_of(run).workflow.run(following)), 1
    if run.core.run_id == current.state.core.run_id:
        for batch in current.batches:
            yield from batch


def _continued_in(event: HistoryEvent | None) -> str:
    if event is None or event.event_type != EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
        return ""
    return event.workflow_execution_continued_as_new_event_attributes.new_execution_run_id
