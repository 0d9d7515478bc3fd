"""The bounds on how much may wait for a workflow task, and on how long a history may become.

What exceeds them has its consequence in the same transition, so nothing acknowledged is lost: the buffer is let through
by failing the task that holds it up, and a run whose history is full is terminated.
"""

from temporalio.api.enums.v1 import WorkflowTaskFailedCause

from durable_core.engine import closing, workflow_tasks
from durable_core.engine.transition import Transition
from durable_core.model import limits


def enforce(t: Transition) -> None:
    if not t.state.is_open or not t.is_dirty:
        return
    core = t.state.core
    if len(t.state.buffered) > limits.buffered_events_max or _buffered_bytes(t) > limits.buffered_bytes_max:
        _let_buffer_through(t)
    if core.next_event_id - 1 > limits.history_events_max:
        _terminate(t, "Workflow history count exceeds limit.")
    elif core.history_bytes > limits.history_bytes_max:
        _terminate(t, "Workflow history size exceeds limit.")


def _buffered_bytes(t: Transition) -> int:
    return sum(len(blob) for blob in t.state.buffered.values()) if len(t.state.buffered) else 0


def _let_buffer_through(t: Transition) -> None:
    """The started task fails, and what waited for it enters the history."""
    task = t.state.core.workflow_task
    assert task is not None
    cause = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND
    workflow_tasks.fail(t, task, cause, None, closing.IDENTITY_HISTORY_SERVICE)
    t.flush()
    workflow_tasks.schedule(t)


def _terminate(t: Transition, reason: str) -> None:
    closing.terminate(t, reason, None, closing.IDENTITY_HISTORY_SERVICE)
