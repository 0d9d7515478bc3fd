"""PollActivityTaskQueue: an attempt of an activity for a worker."""

from temporalio.api.workflowservice.v1 import PollActivityTaskQueueRequest, PollActivityTaskQueueResponse

from durable_core.engine import activities
from durable_core.engine.transition import Transition
from durable_core.engine.workflow_tasks import Claim
from durable_core.model.ids import QueueKind
from durable_core.model.state import ActivityInfo, RunState
from durable_core.model.tasks import ActivityTask, Task
from durable_core.services import claims, polling
from durable_core.services.calls import Call, Wait
from durable_core.services.context import Context

_Reply = PollActivityTaskQueueResponse


def poll_activity_task_queue(
    context: Context, request: PollActivityTaskQueueRequest, call: Call
) -> _Reply | Wait:
    def claim(task: Task) -> _Reply | None:
        assert isinstance(task.body, ActivityTask)
        return _claim(context, request, task, task.body)

    return polling.poll(context, request, call, QueueKind.ACTIVITY, _Reply, claim)


def _claim(
    context: Context, request: PollActivityTaskQueueRequest, task: Task, body: ActivityTask
) -> _Reply | None:
    """Start the attempt for this poller, or None when its message is stale."""
    version = claims.worker_version(request.worker_version_capabilities)
    claim = Claim(context.ids.unique(), request.identity, version)

    def decide(t: Transition) -> tuple[RunState, ActivityInfo] | None:
        info = t.state.activities.get(body.scheduled_event_id)
        if not t.state.is_open or info is None or info.started_at or info.stamp != body.stamp:
            return None
        t.claimed = body
        return t.state, activities.start(t, info, claim)

    claimed = context.runs.update_if_there(task.run, decide)
    return None if claimed is None else claims.activity_task(context, *claimed)
