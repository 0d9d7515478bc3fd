"""What a polled task tells its worker about the number of polls to keep open.

Workers that scale their polls add one, or give one up, as they are told; others do not look.
"""

from temporalio.api.workflowservice.v1 import PollActivityTaskQueueResponse, PollWorkflowTaskQueueResponse

from durable_core.model import limits
from durable_core.model.ids import QueueKey
from durable_core.services.context import Context


def advise(
    context: Context,
    queue: QueueKey,
    reply: PollWorkflowTaskQueueResponse | PollActivityTaskQueueResponse,
    waited: int,
) -> None:
    """Say nothing where all is well. `waited` is for how long the poll waited for its task, in ns."""
    now = context.clock.now()
    since = context.task_queues.waiting_since(queue)
    if since is None:
        # The queue does not tell what waits in it. The task does, if it lay there before its poll came.
        since = min(_scheduled(reply), now - waited)
        now -= waited
    if waited >= limits.poller_wait_long:
        reply.poller_scaling_decision.poll_request_delta_suggestion = -1
    elif since and now - since > limits.backlog_age_short:
        reply.poller_scaling_decision.poll_request_delta_suggestion = 1


def _scheduled(reply: PollWorkflowTaskQueueResponse | PollActivityTaskQueueResponse) -> int:
    """When the task was scheduled, in ns; 0 for a query."""
    if isinstance(reply, PollActivityTaskQueueResponse):
        return reply.current_attempt_scheduled_time.ToNanoseconds()
    return reply.scheduled_time.ToNanoseconds()
