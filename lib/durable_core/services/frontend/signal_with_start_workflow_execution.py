"""SignalWithStartWorkflowExecution: signal the open run, or begin one that starts with the signal, in one transition.

A newcomer's trap: the request ID makes the signal act once in an open run; a start is not told from its repetition
once the run has closed, as on the Temporal server.
"""

from temporalio.api.enums.v1 import EventType, WorkflowIdConflictPolicy
from temporalio.api.workflowservice.v1 import (
    SignalWithStartWorkflowExecutionRequest,
    SignalWithStartWorkflowExecutionResponse,
    StartWorkflowExecutionRequest,
)

from durable_core.engine import checks, external, starting, workflow_tasks
from durable_core.engine.transition import Transition
from durable_core.model import limits
from durable_core.model.errors import InvalidArgument
from durable_core.model.ids import WorkflowKey
from durable_core.model.namespace import Namespace
from durable_core.model.state import RunState
from durable_core.services import lookup, start_requests, starts
from durable_core.services.context import Context
from durable_core.services.start_requests import Policies
from durable_core.services.unit_of_work import Start

_Conflict = WorkflowIdConflictPolicy


def signal_with_start_workflow_execution(
    context: Context, request: SignalWithStartWorkflowExecutionRequest
) -> SignalWithStartWorkflowExecutionResponse:
    namespace = context.namespaces.named(request.namespace)
    start = _start_part(request)
    chosen = _check(request, start, namespace)
    signal = external.Signal(
        name=request.signal_name,
        input=request.signal_input if request.HasField("signal_input") else None,
        identity=request.identity,
        header=request.header if request.HasField("header") else None,
        request_id=request.request_id or context.ids.unique(),
        links=request.links,
    )
    now = context.clock.now()
    new = starting.NewRun(namespace.namespace_id, namespace.name, context.ids.run_id(now), signal.request_id)

    def decide(current: RunState | None) -> Start[starts.Started]:
        if current is not None and current.is_open:
            if chosen.conflict == _Conflict.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING:
                return starts.replace(context, current, begin())
            return _signalled(context, current, signal)
        if current is not None:
            starts.check_reuse(current, chosen)
        return starts.new(begin())

    def begin() -> Transition:
        return start_requests.begin(start, namespace, new, now, context.ids, signal=signal)

    key = WorkflowKey(namespace.namespace_id, request.workflow_id)
    served = context.runs.start(key, decide)
    signaled = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
    return SignalWithStartWorkflowExecutionResponse(
        run_id=served.run_id,
        first_execution_run_id=served.first_run_id,
        started=served.new,
        signal_link=lookup.request_link(namespace, key.run(served.run_id), signal.request_id, signaled),
    )


def _start_part(request: SignalWithStartWorkflowExecutionRequest) -> StartWorkflowExecutionRequest:
    """The start that the request asks for. The fields of the two messages have the same names and types."""
    start = StartWorkflowExecutionRequest()
    for descriptor, value in request.ListFields():
        if descriptor.name not in StartWorkflowExecutionRequest.DESCRIPTOR.fields_by_name:
            continue  # what is the signal's alone
        if descriptor.name == "links":
            start.links.extend(request.links)
        elif descriptor.message_type is not None:
            getattr(start, descriptor.name).CopyFrom(value)
        else:
            setattr(start, descriptor.name, value)
    return start


def _check(
    request: SignalWithStartWorkflowExecutionRequest,
    start: StartWorkflowExecutionRequest,
    namespace: Namespace,
) -> Policies:
    if not request.workflow_id:
        raise InvalidArgument("WorkflowId is not set on request.")
    _check_length("WorkflowId", request.workflow_id)
    if not request.signal_name:
        raise InvalidArgument("signal not set")
    _check_length("signal name", request.signal_name)
    if not request.workflow_type.name:
        raise InvalidArgument("workflow type not set")
    _check_length("workflow type name", request.workflow_type.name)
    checks.normalized_queue(request.task_queue, "")
    _check_length("Request ID", request.request_id)
    if request.workflow_id_conflict_policy == _Conflict.WORKFLOW_ID_CONFLICT_POLICY_FAIL:
        raise InvalidArgument(
            "Invalid WorkflowIDConflictPolicy: WORKFLOW_ID_CONFLICT_POLICY_FAIL is not supported for this operation."
        )
    chosen = start_requests.policies(request.workflow_id_reuse_policy, request.workflow_id_conflict_policy)
    start_requests.check_values(start, namespace)
    if request.signal_input.ByteSize() > limits.blob_bytes_max:
        raise InvalidArgument("Blob data size exceeds limit.")
    return chosen


def _check_length(field: str, value: str) -> None:
    if checks.too_long(value):
        length = len(value.encode())
        raise InvalidArgument(f"{field} exceeds maximum allowed length ({length}/{limits.id_length_max})")


def _signalled(context: Context, current: RunState, signal: external.Signal) -> Start[starts.Started]:
    """The open run takes the signal; its first workflow task is not delayed any longer."""
    core = current.core
    found = starts.Started(core.run_id, core.first_run_id, core.status, new=False)
    if signal.request_id in current.requests:
        return Start(found)
    lookup.require_not_closing(current)
    t = context.runs.fork(current)
    external.signal(t, signal)
    if t.state.core.backoff_pending and not t.state.core.waits_for_parent:
        workflow_tasks.schedule(t)
    return Start(found, existing=t)
