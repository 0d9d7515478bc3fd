"""PollActivityTaskQueue: an attempt of an activity for a worker."""

from temporalio.api.workflowservice.v1 import PollActivityTaskQueueRequest, PollActivityTaskQueueResponse

from durable_core.engine import activities, checks
from durable_core.engine.transition import Transition
from durable_core.engine.workflow_tasks import Claim
from durable_core.model import limits
from durable_core.model.errors import InvalidArgument, Unimplemented
from durable_core.model.ids import QueueKey, QueueKind
from durable_core.model.state import ActivityInfo, RunState
from durable_core.model.tasks import ActivityTask, Task
from durable_core.model.times import SECOND
from durable_core.services import claims, poller_scaling
from durable_core.services.calls import Call, Wait
from durable_core.services.context import Context

_Reply = PollActivityTaskQueueResponse


def poll_activity_task_queue(
    context: Context, request: PollActivityTaskQueueRequest, call: Call
) -> _Reply | Wait:
    namespace = context.namespaces.named(request.namespace)
    _check(request)
    queue = QueueKey(namespace.namespace_id, request.task_queue.name, QueueKind.ACTIVITY)
    now = context.clock.now()
    build_id = request.worker_version_capabilities.build_id
    context.pollers.seen(queue, request.identity, max(now, call.polls_until), build_id)
    began = call.resume or now
    while (received := context.task_queues.receive(queue)) is not None:
        context.runs.distrust()  # The message may tell of a transition that came after what was read for the last.
        body = received.task.body
        assert isinstance(body, ActivityTask)
        reply = _claim(context, request, received.task, body)
        context.task_queues.delete(received)
        if reply is not None:
            poller_scaling.advise(context, queue, reply, now - began)
            return reply
    if call.last:
        return _Reply()
    return Wait((queue,), limits.long_poll_tasks / SECOND, resume=began)


def _check(request: PollActivityTaskQueueRequest) -> None:
    if not request.HasField("task_queue"):
        raise InvalidArgument("taskQueue is not set")
    checks.normalized_queue(request.task_queue, "")
    if request.worker_version_capabilities.use_versioning:
        raise Unimplemented("Worker versioning is not supported yet.")
    if checks.too_long(request.identity):
        raise InvalidArgument("Identity length exceeds limit.")


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
        return t.state, activities.start(t, info, claim)

    claimed = context.runs.update_if_there(task.run, decide)
    return None if claimed is None else claims.activity_task(context, *claimed)
