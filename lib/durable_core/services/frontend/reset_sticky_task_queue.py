"""ResetStickyTaskQueue: later workflow tasks of the run go to its normal queue."""

from temporalio.api.workflowservice.v1 import ResetStickyTaskQueueRequest, ResetStickyTaskQueueResponse

from durable_core.engine.transition import Transition
from durable_core.machines.workflow_task import clear_sticky
from durable_core.services import lookup
from durable_core.services.context import Context


def reset_sticky_task_queue(
    context: Context, request: ResetStickyTaskQueueRequest
) -> ResetStickyTaskQueueResponse:
    namespace = context.namespaces.named(request.namespace)
    lookup.check_present(request, "execution")

    def decide(t: Transition) -> None:
        lookup.require_open(t.state)
        if t.state.core.sticky_queue:
            clear_sticky(t.state.core)
            t.is_dirty = True

    lookup.update(context, namespace.namespace_id, request.execution, decide)
    return ResetStickyTaskQueueResponse()
