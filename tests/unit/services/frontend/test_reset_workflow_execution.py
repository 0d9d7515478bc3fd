"""What of a reset cannot be compared: requests that come twice, and the deletion of a run that another goes on from."""

from collections.abc import Iterator

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.common.v1 import WorkflowExecution, WorkflowType
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    GetWorkflowExecutionHistoryRequest,
    PollWorkflowTaskQueueRequest,
    RegisterNamespaceRequest,
    ResetWorkflowExecutionRequest,
    RespondWorkflowTaskCompletedRequest,
    SignalWorkflowExecutionRequest,
    StartWorkflowExecutionRequest,
)

from durable_core.bootstrap import embedded
from durable_core.config import Settings
from durable_core.model.ids import RunKey
from durable_core.services.calls import Call
from durable_core.services.context import Context
from durable_core.services.frontend.get_workflow_execution_history import get_workflow_execution_history
from durable_core.services.frontend.register_namespace import register_namespace
from durable_core.services.frontend.reset_workflow_execution import reset_workflow_execution
from durable_core.services.frontend.respond_workflow_task_completed import respond_workflow_task_completed
from durable_core.services.frontend.signal_workflow_execution import signal_workflow_execution
from durable_core.services.frontend.start_workflow_execution import start_workflow_execution
from durable_core.services.matching.poll_workflow_task_queue import poll_workflow_task_queue
from perdure.dev.notifications import InProcessNotifications

NAMESPACE = "default"
AT_ONCE = Call(deadline=1 << 62, last=True)


@pytest.fixture
def context() -> Iterator[Context]:
    system = embedded(Settings(), InProcessNotifications())
    register_namespace(
        system.context,
        RegisterNamespaceRequest(
            namespace=NAMESPACE, workflow_execution_retention_period=Duration(seconds=86_400)
        ),
    )
    yield system.context
    system.close()


def start(context: Context) -> str:
    request = StartWorkflowExecutionRequest(
        namespace=NAMESPACE,
        workflow_id="order",
        workflow_type=WorkflowType(name="Order"),
        task_queue=TaskQueue(name="orders"),
        request_id="start",
    )
    return start_workflow_execution(context, request).run_id


def step(context: Context) -> None:
    poll = PollWorkflowTaskQueueRequest(namespace=NAMESPACE, task_queue=TaskQueue(name="orders"))
    task = poll_workflow_task_queue(context, poll, AT_ONCE)
    answer = RespondWorkflowTaskCompletedRequest(namespace=NAMESPACE, task_token=task.task_token)
    respond_workflow_task_completed(context, answer)


def signal(context: Context, request_id: str) -> None:
    request = SignalWorkflowExecutionRequest(
        namespace=NAMESPACE,
        workflow_execution=WorkflowExecution(workflow_id="order"),
        signal_name="paid",
        request_id=request_id,
    )
    signal_workflow_execution(context, request)


def reset(context: Context, event_id: int, run_id: str, request_id: str) -> str:
    request = ResetWorkflowExecutionRequest(
        namespace=NAMESPACE,
        workflow_execution=WorkflowExecution(workflow_id="order", run_id=run_id),
        workflow_task_finish_event_id=event_id,
        request_id=request_id,
    )
    return reset_workflow_execution(context, request).run_id


def history(context: Context, run_id: str) -> list[HistoryEvent]:
    request = GetWorkflowExecutionHistoryRequest(
        namespace=NAMESPACE, execution=WorkflowExecution(workflow_id="order", run_id=run_id)
    )
    return list(get_workflow_execution_history(context, request, AT_ONCE).history.events)


def test_a_repeated_request_makes_no_second_run(context: Context) -> None:
    first = start(context)
    step(context)
    second = reset(context, 4, first, "one")
    assert reset(context, 4, first, "one") == second
    third = reset(context, 4, first, "two")
    assert third != second
    assert reset(context, 4, first, "one") == third, "a run answers all requests that led to it"


def test_a_signal_that_is_repeated_after_a_reset_acts_once(context: Context) -> None:
    first = start(context)
    signal(context, "kept")
    step(context)
    signal(context, "reapplied")
    second = reset(context, 5, first, "reset")
    signal(context, "kept")
    signal(context, "reapplied")
    signaled = EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED
    kinds = [event.event_type for event in history(context, second)]
    assert kinds.count(signaled) == 2


def test_a_run_keeps_its_history_when_the_run_it_goes_on_from_is_deleted(context: Context) -> None:
    first = start(context)
    step(context)
    signal(context, "signal")
    second = reset(context, 4, first, "reset")
    before = history(context, second)
    namespace_id = context.namespaces.named(NAMESPACE).namespace_id
    context.runs.delete(RunKey(namespace_id, "order", first))
    assert history(context, second) == before
    step(context)
    assert [event.event_id for event in history(context, second)] == list(range(1, len(before) + 3))
