"""Running a task of the history service: which function does which task."""

from durable_core.model.ids import SERVICE_QUEUE
from durable_core.model.tasks import (
    ActivityTask,
    ApplyParentClosePolicy,
    CancelExternal,
    DeleteRun,
    NotifyParent,
    QueryTask,
    SignalExternal,
    StartChild,
    Task,
    WorkflowTask,
)
from durable_core.services.context import Context
from durable_core.services.history.apply_parent_close_policy import apply_parent_close_policy
from durable_core.services.history.cancel_external import cancel_external
from durable_core.services.history.delete_run import delete_run
from durable_core.services.history.notify_parent import notify_parent
from durable_core.services.history.signal_external import signal_external
from durable_core.services.history.start_child import start_child


def run_next(context: Context) -> bool:
    """Receive and run one task of the service queue; False when there is none.

    A task whose function raises is not deleted, and comes again after its visibility time.
    """
    received = context.task_queues.receive(SERVICE_QUEUE)
    if received is None:
        return False
    run(context, received.task)
    context.task_queues.delete(received)
    return True


def run(context: Context, task: Task) -> None:
    context.runs.distrust()  # The task may tell of a transition that came after what was read for another one.
    match task.body:
        case StartChild() as body:
            start_child(context, task, body)
        case SignalExternal() as body:
            signal_external(context, task, body)
        case CancelExternal() as body:
            cancel_external(context, task, body)
        case NotifyParent() as body:
            notify_parent(context, task, body)
        case ApplyParentClosePolicy() as body:
            apply_parent_close_policy(context, task, body)
        case DeleteRun() as body:
            # What the run's end owes to others is done first, since its tasks go with the run.
            notify_parent(context, task, NotifyParent())
            apply_parent_close_policy(context, task, ApplyParentClosePolicy())
            delete_run(context, task, body)
        case WorkflowTask() | ActivityTask() | QueryTask():
            raise TypeError(f"{type(task.body).__name__} is a worker's task")
