"""Delete a closed run with its history.

What the run's end still owed to its parent and to its children is done first, since deleting drops its tasks.
"""

from durable_core.model.tasks import ApplyParentClosePolicy, DeleteRun, NotifyParent, Task
from durable_core.services.context import Context
from durable_core.services.history.apply_parent_close_policy import apply_parent_close_policy
from durable_core.services.history.notify_parent import notify_parent


def delete_run(context: Context, task: Task, body: DeleteRun) -> None:
    state = context.runs.find(task.run)
    if state is None or state.is_open:
        return
    if body.was_open:
        notify_parent(context, task, NotifyParent())
        apply_parent_close_policy(context, task, ApplyParentClosePolicy())
    context.runs.delete(task.run)
