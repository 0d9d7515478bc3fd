"""Delete a closed run with its history.

What the run's end still owed to its parent and to its children is done first, since deleting drops its tasks.
"""

from temporalio.api.history.v1 import HistoryEvent

from durable_core.engine import closing
from durable_core.model.tasks import ApplyParentClosePolicy, DeleteRun, NotifyParent, Task
from durable_core.services.context import Context
from durable_core.services.history.apply_parent_close_policy import apply_parent_close_policy
from durable_core.services.history.notify_parent import notify_parent


def delete_run(context: Context, task: Task, body: DeleteRun) -> None:
    state = context.runs.find(task.run)
    if state is None or state.is_open:
        return
    if _ends_its_chain(context.reader.event(state.core, state.core.close_event_id)):
        notify_parent(context, task, NotifyParent())
    if not state.core.reset_run_id:
        apply_parent_close_policy(context, task, ApplyParentClosePolicy())
    context.runs.delete(task.run)


def _ends_its_chain(close: HistoryEvent) -> bool:
    """Whether no other run goes on from this one."""
    kind = close.WhichOneof("attributes")
    assert kind is not None
    attributes = getattr(close, kind)
    followed = bool(getattr(attributes, "new_execution_run_id", ""))
    return not followed and getattr(attributes, "identity", "") != closing.IDENTITY_RESETTER
