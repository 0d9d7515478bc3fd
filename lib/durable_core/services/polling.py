"""What the two polls for tasks have in common: the checks, the wait, and messages until one of them leads to a task.

What does not live here: what a message stands for, which each poll judges for itself.
A newcomer's trap: a message is deleted after its claim is stored. One that is stale is deleted, too, and the next is
looked at.
"""

from collections.abc import Callable
from typing import TypeVar

from temporalio.api.workflowservice.v1 import (
    PollActivityTaskQueueRequest,
    PollActivityTaskQueueResponse,
    PollWorkflowTaskQueueRequest,
    PollWorkflowTaskQueueResponse,
)

from durable_core.engine import checks
from durable_core.model import limits
from durable_core.model.errors import InvalidArgument, Unimplemented
from durable_core.model.ids import QueueKey, QueueKind
from durable_core.model.tasks import Task
from durable_core.model.times import SECOND
from durable_core.services import poller_scaling
from durable_core.services.calls import Call, Wait
from durable_core.services.context import Context

R = TypeVar("R", PollWorkflowTaskQueueResponse, PollActivityTaskQueueResponse)
_Request = PollWorkflowTaskQueueRequest | PollActivityTaskQueueRequest


def poll(
    context: Context,
    request: _Request,
    call: Call,
    kind: QueueKind,
    reply_type: type[R],
    claim: Callable[[Task], R | None],
) -> R | Wait:
    """The first task that a message leads to; `claim` gives None for a stale one. Empty when the time is over."""
    namespace = context.namespaces.named(request.namespace)
    _check(request)
    queue = QueueKey(namespace.namespace_id, request.task_queue.name, kind)
    now = context.clock.now()
    build_id = request.worker_version_capabilities.build_id
    context.pollers.seen(queue, request.identity, max(now, call.polls_until), build_id)
    began = call.resume or now
    while (received := context.task_queues.receive(queue)) is not None:
        context.runs.distrust()  # The message may tell of a transition that came after what was read for the last.
        reply = claim(received.task)
        context.task_queues.delete(received)
        if reply is not None:
            poller_scaling.advise(context, queue, reply, now - began)
            return reply
    if call.last:
        return reply_type()
    return Wait((queue,), limits.long_poll_tasks / SECOND, resume=began)


def _check(request: _Request) -> None:
    if not request.HasField("task_queue"):
        raise InvalidArgument("taskQueue is not set")
    checks.normalized_queue(request.task_queue, "")
    if request.worker_version_capabilities.use_versioning:
        raise Unimplemented("Worker versioning is not supported yet.")
    if checks.too_long(request.identity):
        raise InvalidArgument("Identity length exceeds limit.")
