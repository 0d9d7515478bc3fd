"""What polls advise: the reference server's answers depend on its partitions and rates, so these are not compared."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.common.v1 import WorkflowType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    PollWorkflowTaskQueueRequest,
    PollWorkflowTaskQueueResponse,
    RegisterNamespaceRequest,
    StartWorkflowExecutionRequest,
)

from durable_core.adapters.decorators import ManualClock
from durable_core.bootstrap import embedded
from durable_core.config import Settings
from durable_core.model.ids import QueueKey
from durable_core.model.times import MILLISECOND, SECOND
from durable_core.services.calls import Call, Wait
from durable_core.services.context import Context
from durable_core.services.frontend.register_namespace import register_namespace
from durable_core.services.frontend.start_workflow_execution import start_workflow_execution
from durable_core.services.matching.poll_workflow_task_queue import poll_workflow_task_queue
from perdure.dev.notifications import InProcessNotifications

NAMESPACE = "shop"
QUEUE = TaskQueue(name="orders")


@pytest.fixture
def clock() -> ManualClock:
    clock = ManualClock()
    clock.set(1_000 * SECOND)
    return clock


@pytest.fixture
def context(clock: ManualClock) -> Iterator[Context]:
    system = embedded(Settings(), InProcessNotifications(), clock)
    retention = Duration(seconds=86_400)
    register_namespace(
        system.context,
        RegisterNamespaceRequest(namespace=NAMESPACE, workflow_execution_retention_period=retention),
    )
    yield system.context
    system.close()


def start(context: Context, workflow_id: str) -> None:
    request = StartWorkflowExecutionRequest(
        namespace=NAMESPACE,
        workflow_id=workflow_id,
        workflow_type=WorkflowType(name="Order"),
        task_queue=QUEUE,
        request_id=workflow_id,
    )
    start_workflow_execution(context, request)


def poll(context: Context, resume: int | None = None) -> PollWorkflowTaskQueueResponse | Wait:
    request = PollWorkflowTaskQueueRequest(namespace=NAMESPACE, task_queue=QUEUE, identity="worker")
    return poll_workflow_task_queue(context, request, Call(deadline=1 << 62, resume=resume))


def advice(reply: PollWorkflowTaskQueueResponse | Wait) -> int | None:
    assert isinstance(reply, PollWorkflowTaskQueueResponse)
    if not reply.HasField("poller_scaling_decision"):
        return None
    return reply.poller_scaling_decision.poll_request_delta_suggestion


def test_a_poll_that_finds_its_task_at_once_advises_nothing(context: Context) -> None:
    start(context, "one")
    assert advice(poll(context)) is None


def test_a_poll_advises_more_polls_while_other_tasks_wait_for_long(
    context: Context, clock: ManualClock
) -> None:
    for number in range(3):
        start(context, f"order-{number}")
    clock.set(clock.now() + 200 * MILLISECOND)
    assert advice(poll(context)) is None, "they do not wait for long yet"
    clock.set(clock.now() + 1)
    assert advice(poll(context)) == 1
    assert advice(poll(context)) is None, "nothing waits any more"


def test_a_poll_that_waited_for_long_advises_fewer_polls(context: Context, clock: ManualClock) -> None:
    waiting = poll(context)
    assert isinstance(waiting, Wait)
    clock.set(clock.now() + SECOND)
    start(context, "one")
    assert advice(poll(context, waiting.resume)) == -1


class Untold:
    """A queue that does not tell what waits in it, as SQS does not."""

    def __init__(self, context: Context) -> None:
        self._queues = context.task_queues

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queues, name)

    def waiting_since(self, queue: QueueKey) -> None:
        del queue


@pytest.fixture
def untold(context: Context) -> Context:
    return replace(context, task_queues=Untold(context))


def test_a_task_that_lay_in_an_untold_queue_before_its_poll_came_advises_more(
    untold: Context, clock: ManualClock
) -> None:
    start(untold, "one")
    start(untold, "two")
    clock.set(clock.now() + 200 * MILLISECOND)
    assert advice(poll(untold)) is None, "it did not lie there for long"
    clock.set(clock.now() + 1)
    assert advice(poll(untold)) == 1


def test_a_poll_that_waited_at_an_untold_queue_is_not_taken_for_a_backlog(
    untold: Context, clock: ManualClock
) -> None:
    waiting = poll(untold)
    assert isinstance(waiting, Wait)
    start(untold, "one")
    clock.set(clock.now() + 300 * MILLISECOND)
    assert advice(poll(untold, waiting.resume)) is None
    start(untold, "two")
    clock.set(clock.now() + SECOND)
    assert advice(poll(untold, waiting.resume)) == -1
