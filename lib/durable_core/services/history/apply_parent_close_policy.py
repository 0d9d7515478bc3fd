"""Terminate or cancel the children that a closed run leaves behind, as each one's policy says."""

from collections.abc import Callable

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import ParentClosePolicy

from durable_core.engine import closing, external
from durable_core.engine.transition import Transition
from durable_core.model.errors import NotFound
from durable_core.model.ids import WorkflowKey
from durable_core.model.state import ChildInfo, RunState
from durable_core.model.tasks import ApplyParentClosePolicy, Task
from durable_core.services.context import Context

_Policy = ParentClosePolicy


def apply_parent_close_policy(context: Context, task: Task, body: ApplyParentClosePolicy) -> None:
    parent = context.runs.find(task.run)
    if parent is None or parent.is_open or parent.core.reset_run_id:
        return
    for child in list(parent.children.values()):
        if child.run_id and child.parent_close_policy != _Policy.PARENT_CLOSE_POLICY_ABANDON:
            _apply(context, parent, child)


def _apply(context: Context, parent: RunState, child: ChildInfo) -> None:
    """The child's current run is the one to stop, as long as it belongs to the chain that the parent started."""
    workflow = WorkflowKey(child.namespace_id, child.workflow_id)
    try:
        key = workflow.run(context.runs.current_run_id(workflow))
        context.runs.update(key, _stopped(parent, child))
    except NotFound:
        return


def _stopped(parent: RunState, child: ChildInfo) -> Callable[[Transition], None]:
    def decide(t: Transition) -> None:
        core = t.state.core
        if not t.state.is_open or core.first_run_id != child.run_id:
            return
        if core.parent is None or core.parent.run_id != parent.core.run_id:
            return  # A run that a reset made does not stop the children that the run before it started.
        if child.parent_close_policy == _Policy.PARENT_CLOSE_POLICY_TERMINATE:
            closing.terminate(t, "by parent close policy", None, closing.IDENTITY_HISTORY_SERVICE)
            return
        sender = WorkflowExecution(workflow_id=parent.core.workflow_id, run_id=parent.core.run_id)
        request = external.CancelRequest(
            reason="", identity=closing.IDENTITY_HISTORY_SERVICE, request_id="", sender=sender
        )
        external.request_cancel(t, request)

    return decide
