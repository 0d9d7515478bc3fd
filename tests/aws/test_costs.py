"""What workflows cost: transactions, units and calls, counted as AWS bills them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.command.v1 import (
    Command,
    CompleteWorkflowExecutionCommandAttributes,
    ScheduleActivityTaskCommandAttributes,
)
from temporalio.api.common.v1 import ActivityType, Payload, Payloads, WorkflowType
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

from durable_core.adapters.decorators.counting import Counted, Counting
from durable_core.adapters.sqlite import open_store
from durable_core.adapters.system import SystemIds
from durable_core.config import Settings
from durable_core.model import limits
from durable_core.model.ids import QueueKey
from durable_core.model.times import SECOND
from durable_core.services.calls import Call
from durable_core.services.context import Context
from durable_core.services.frontend.register_namespace import register_namespace
from durable_core.services.history_reader import HistoryReader
from durable_core.services.namespaces import Namespaces
from durable_core.services.rpcs import WORKFLOW_SERVICE
from durable_core.services.unit_of_work import UnitOfWork, UnitSettings

from .local import Account
from .stores import Tables, opened

pytestmark = pytest.mark.aws

QUEUE = TaskQueue(name="orders")
WORKER = "4711@worker.example"
SHARDS = 4_096
TRANSACTIONS_MAX = 7
WRITE_UNITS_MAX = 45
WRITE_UNITS_OF_VISIBILITY = 8
"""Kept for writing visibility twice, which is not a part of the transitions."""


class Silent:
    def publish(self, topic: object) -> None:
        pass


@dataclass
class Deployment:
    """Processes with the engine on one deployment's tables. The queues are not what is counted, and in memory."""

    tables: Tables
    counting: Counting = field(default_factory=Counting)

    def __post_init__(self) -> None:
        self._queues = open_store(None, self.tables.clock).task_queues

    def process(self, name: str) -> Context:
        store, clock, ids = self.tables.process(), self.tables.clock, SystemIds()
        self.counting.attach(store.database.connection.client)
        namespaces, reader = Namespaces(store.catalog, clock), HistoryReader(store.histories)

        def is_polled(queue: QueueKey, now: int) -> bool:
            return now - store.pollers.last_seen(queue) <= limits.sticky_poller_silence_max

        runs = UnitOfWork(
            store.executions,
            reader,
            clock,
            ids,
            Silent(),
            namespaces.retention,
            is_polled,
            lambda seconds: None,
            UnitSettings(SHARDS, name, 100, lease=SECOND, expires=True),
            self._queues.send,
        )
        return Context(
            settings=Settings(shards=SHARDS),
            runs=runs,
            reader=reader,
            namespaces=namespaces,
            catalog=store.catalog,
            task_queues=self._queues,
            pollers=store.pollers,
            queries=store.queries,
            notifications=Silent(),
            clock=clock,
            ids=ids,
        )


@pytest.fixture
def deployment(account: Account, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    with opened(account, monkeypatch) as tables:
        yield Deployment(tables)


def payloads(text: str) -> Payloads:
    return Payloads(payloads=[Payload(metadata={"encoding": b"json/plain"}, data=f'"{text}"'.encode())])


def calling(context: Context) -> Callable[[str, Any], Any]:
    def call(method: str, request: Any) -> Any:
        context.runs.distrust()
        rpc = WORKFLOW_SERVICE[method]
        more = (Call(deadline=1 << 62, last=True),) if rpc.waits else ()
        return rpc.function(context, request, *more)

    return call


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
