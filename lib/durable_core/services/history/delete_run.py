"""Delete a closed run with its history.

A newcomer's trap: deleting drops the run's tasks, so what its end owes to others must have been done before.
"""

from durable_core.model.tasks import DeleteRun, Task
from durable_core.services.context import Context


def delete_run(context: Context, task: Task, body: DeleteRun) -> None:
    state = context.runs.find(task.run)
    if state is not None and not state.is_open:
        context.runs.delete(task.run)
