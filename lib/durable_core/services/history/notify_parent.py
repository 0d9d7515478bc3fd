"""Tell the parent how a child's chain of runs ended."""

from temporalio.api.history.v1 import HistoryEvent

from durable_core.engine import children, closing
from durable_core.engine.transition import Transition
from durable_core.model.ids import WorkflowKey
from durable_core.model.tasks import NotifyParent, Task
from durable_core.services.context import Context


def notify_parent(context: Context, task: Task, body: NotifyParent) -> None:
    child = context.runs.find(task.run)
    if child is None or child.is_open or child.core.parent is None:
        return
    core, parent = child.core, child.core.parent
    close = context.reader.event(core, core.close_event_id)
    if not _ends_its_chain(close):
        return
    key = WorkflowKey(parent.namespace_id, parent.workflow_id).run(parent.run_id)
    while (found := context.runs.find(key)) is not None and found.core.reset_run_id:
        key = key.workflow.run(found.core.reset_run_id)
    if found is None:
        return

    def decide(t: Transition) -> None:
        pending = t.state.children.get(parent.initiated_event_id)
        if pending is None or pending.workflow_id != core.workflow_id or not t.state.is_open:
            return
        if not pending.started_event_id:
            pending = children.record_started(t, pending, core.first_run_id, None)
        children.record_closed(t, pending, close, core.run_id)

    context.runs.update(key, decide)


def _ends_its_chain(close: HistoryEvent) -> bool:
    """Whether no other run goes on from the closed one: by continuing it, or by a reset."""
    kind = close.WhichOneof("attributes")
    assert kind is not None
    attributes = getattr(close, kind)
    followed = bool(getattr(attributes, "new_execution_run_id", ""))
    return not followed and getattr(attributes, "identity", "") != closing.IDENTITY_RESETTER
