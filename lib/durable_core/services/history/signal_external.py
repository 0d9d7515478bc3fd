"""Deliver a signal to another execution, and record the outcome at the sender."""

from collections.abc import Callable

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import SignalExternalWorkflowExecutionFailedCause
from temporalio.api.history.v1 import HistoryEvent

from durable_core.engine import closing, external
from durable_core.engine.transition import Transition
from durable_core.model.errors import InvalidArgument, NamespaceNotFound, NotFound
from durable_core.model.state import ExternalInfo, RunState
from durable_core.model.tasks import SignalExternal, Task
from durable_core.services import lookup
from durable_core.services.context import Context

_Cause = SignalExternalWorkflowExecutionFailedCause


def signal_external(context: Context, task: Task, body: SignalExternal) -> None:
    sender = context.runs.find(task.run)
    info = None if sender is None else sender.signals.get(body.initiated_event_id)
    if sender is None or info is None or not sender.is_open:
        return
    initiated = context.reader.event(sender.core, body.initiated_event_id)
    cause = _deliver(context, sender, info, initiated)
    control = initiated.signal_external_workflow_execution_initiated_event_attributes.control

    def decide(t: Transition) -> None:
        pending = t.state.signals.get(body.initiated_event_id)
        if pending is None or not t.state.is_open:
            return
        if cause is None:
            external.record_signaled(t, pending, control)
        else:
            external.record_signal_failed(t, pending, cause, initiated)

    context.runs.update(task.run, decide)


def _deliver(
    context: Context, sender: RunState, info: ExternalInfo, initiated: HistoryEvent
) -> "SignalExternalWorkflowExecutionFailedCause.ValueType | None":
    """None when the signal arrived, else why it could not."""
    core = sender.core
    if (info.namespace_id, info.workflow_id) == (core.namespace_id, core.workflow_id):
        return _Cause.SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED_CAUSE_EXTERNAL_WORKFLOW_EXECUTION_NOT_FOUND
    attributes = initiated.signal_external_workflow_execution_initiated_event_attributes
    signal = external.Signal(
        name=attributes.signal_name,
        input=attributes.input if attributes.HasField("input") else None,
        identity=closing.IDENTITY_HISTORY_SERVICE,
        header=attributes.header if attributes.HasField("header") else None,
        request_id=info.request_id,
        sender=WorkflowExecution(workflow_id=core.workflow_id, run_id=core.run_id),
    )
    try:
        context.namespaces.with_id(info.namespace_id)
        execution = WorkflowExecution(workflow_id=info.workflow_id, run_id=info.run_id)
        lookup.update(context, info.namespace_id, execution, _signalled(signal, sender, info))
    except NamespaceNotFound:
        return _Cause.SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED_CAUSE_NAMESPACE_NOT_FOUND
    except NotFound:
        return _Cause.SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED_CAUSE_EXTERNAL_WORKFLOW_EXECUTION_NOT_FOUND
    except InvalidArgument:
        return _Cause.SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED_CAUSE_SIGNAL_COUNT_LIMIT_EXCEEDED
    return None


def _signalled(signal: external.Signal, sender: RunState, info: ExternalInfo) -> Callable[[Transition], None]:
    def decide(t: Transition) -> None:
        if signal.request_id in t.state.requests:
            return
        lookup.require_open(t.state)
        lookup.require_child_of(t.state, sender, only=info.child_only)
        external.signal(t, signal)

    return decide
