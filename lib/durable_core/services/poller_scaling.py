"""What a polled task tells its worker about the number of polls to keep open.

Workers that scale their polls add one, or give one up, as they are told; others do not look.
"""

from temporalio.api.taskqueue.v1 import PollerScalingDecision
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
    """Say nothing where all is well. `waited` is for how long the poll waited for its task, in ns.

    Where it is not known what waits, nobody could ever be told to poll more, so nobody is told to poll less.
    """
    since = context.task_queues.waiting_since(queue)
    if since is None:
        return
    delta = 0
    if waited >= limits.poller_wait_long:
        delta = -1
    elif since and context.clock.now() - since > limits.backlog_age_short:
        delta = 1
    if delta:
        reply.poller_scaling_decision.CopyFrom(PollerScalingDecision(poll_request_delta_suggestion=delta))
