"""What workflows cost: transactions, units and calls, counted as AWS bills them."""

from collections.abc import Iterator

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.command.v1 import (
    Command,
    CompleteWorkflowExecutionCommandAttributes,
    ScheduleActivityTaskCommandAttributes,
)
from temporalio.api.common.v1 import ActivityType, WorkflowType
from temporalio.api.enums.v1 import CommandType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    PollActivityTaskQueueRequest,
    PollWorkflowTaskQueueRequest,
    RegisterNamespaceRequest,
    RespondActivityTaskCompletedRequest,
    RespondWorkflowTaskCompletedRequest,
    StartWorkflowExecutionRequest,
)

from durable_core.adapters.decorators.counting import Counted
from durable_core.services.context import Context
from durable_core.services.frontend.register_namespace import register_namespace

from .counted import Deployment, calling, payloads
from .local import Account
from .stores import opened

pytestmark = pytest.mark.aws

QUEUE = TaskQueue(name="orders")
WORKER = "4711@worker.example"
TRANSACTIONS_MAX = 7
WRITE_UNITS_MAX = 45
WRITE_UNITS_OF_VISIBILITY = 8
"""Kept for writing visibility twice, which is not a part of the transitions."""


@pytest.fixture
def deployment(account: Account, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    with opened(account, monkeypatch) as tables:
        yield Deployment(tables)


def hello(frontend: Context, matching: Context, workflow_id: str) -> None:
    """A workflow with one activity, from its start to its end."""
    call, poll = calling(frontend), calling(matching)
    call(
        "StartWorkflowExecution",
        StartWorkflowExecutionRequest(
            namespace="default",
            workflow_id=workflow_id,
            workflow_type=WorkflowType(name="Hello"),
            task_queue=QUEUE,
            request_id=workflow_id,
            identity=WORKER,
            input=payloads("World"),
        ),
    )
    schedule = ScheduleActivityTaskCommandAttributes(
        activity_id="1",
        activity_type=ActivityType(name="greet"),
        task_queue=QUEUE,
        start_to_close_timeout=Duration(seconds=10),
        input=payloads("World"),
    )
    first = Command(
        command_type=CommandType.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK,
        schedule_activity_task_command_attributes=schedule,
    )
    complete = CompleteWorkflowExecutionCommandAttributes(result=payloads("Hello, World!"))
    last = Command(
        command_type=CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION,
        complete_workflow_execution_command_attributes=complete,
    )
    polled = PollWorkflowTaskQueueRequest(namespace="default", task_queue=QUEUE, identity=WORKER)

    def work(command: Command) -> None:
        task = poll("PollWorkflowTaskQueue", polled)
        assert task.task_token
        answer = RespondWorkflowTaskCompletedRequest(
            namespace="default", task_token=task.task_token, identity=WORKER, commands=[command]
        )
        call("RespondWorkflowTaskCompleted", answer)

    work(first)
    activity = poll(
        "PollActivityTaskQueue",
        PollActivityTaskQueueRequest(namespace="default", task_queue=QUEUE, identity=WORKER),
    )
    call(
        "RespondActivityTaskCompleted",
        RespondActivityTaskCompletedRequest(
            namespace="default",
            task_token=activity.task_token,
            identity=WORKER,
            result=payloads("Hello, World!"),
        ),
    )
    work(last)


def counted(deployment: Deployment, frontend: Context, matching: Context) -> Counted:
    """What one hello workflow asks of warm processes."""
    retention = Duration(seconds=86_400)
    register_namespace(
        frontend, RegisterNamespaceRequest(namespace="default", workflow_execution_retention_period=retention)
    )
    hello(frontend, matching, "warm-up")
    deployment.counting.take()
    hello(frontend, matching, "order-0b8c7f2e-6c1e-4d55-8e0c-3f4c6e1d9a77")
    return deployment.counting.take()


def test_a_hello_workflow_of_one_process_keeps_the_budget(deployment: Deployment):
    process = deployment.process("one")
    found = counted(deployment, process, process)
    assert len(found.transactions) <= TRANSACTIONS_MAX
    assert found.write_units <= WRITE_UNITS_MAX - WRITE_UNITS_OF_VISIBILITY
    assert found.of("dynamodb") <= 11
    assert found.read_units <= 8


def test_a_hello_workflow_of_two_functions_keeps_the_budget_and_no_transaction_fails(deployment: Deployment):
    found = counted(deployment, deployment.process("frontend"), deployment.process("matching"))
    assert len(found.transactions) <= TRANSACTIONS_MAX
    assert found.write_units <= WRITE_UNITS_MAX - WRITE_UNITS_OF_VISIBILITY
    assert found.of("dynamodb") <= 16
    assert found.read_units <= 18
