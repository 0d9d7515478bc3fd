"""What a transition asks of DynamoDB in a run as large as runs get, beside what it asks in a small one.

The one thing a newcomer gets wrong: one call shows nothing. What a run has outgrown its document is written now and
then, so a cost is the mean of many.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.command.v1 import (
    Command,
    RecordMarkerCommandAttributes,
    ScheduleActivityTaskCommandAttributes,
)
from temporalio.api.common.v1 import ActivityType, WorkflowExecution, WorkflowType
from temporalio.api.enums.v1 import CommandType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    PollActivityTaskQueueRequest,
    PollWorkflowTaskQueueRequest,
    RecordActivityTaskHeartbeatRequest,
    RegisterNamespaceRequest,
    RespondActivityTaskCompletedRequest,
    RespondWorkflowTaskCompletedRequest,
    SignalWorkflowExecutionRequest,
    StartWorkflowExecutionRequest,
)

from durable_core.services.frontend.register_namespace import register_namespace

from .counted import Deployment, calling, payloads
from .local import Account
from .stores import opened

pytestmark = [pytest.mark.aws, pytest.mark.timeout(300)]

RATIO_MAX = 1.2
"""The design's budget."""
EVENTS, PENDING = 10_000, 1_000
SAMPLES = 100
WORKER = "4711@worker.example"


@dataclass
class Runs:
    """Calls of one warm process, as clients and workers make them."""

    deployment: Deployment

    def __post_init__(self) -> None:
        process = self.deployment.process("one")
        retention = Duration(seconds=86_400)
        register_namespace(
            process,
            RegisterNamespaceRequest(namespace="default", workflow_execution_retention_period=retention),
        )
        self.call = calling(process)

    def start(self, name: str) -> None:
        """A run on a task queue of its own."""
        request = StartWorkflowExecutionRequest(
            namespace="default",
            workflow_id=name,
            workflow_type=WorkflowType(name="Large"),
            task_queue=TaskQueue(name=name),
            request_id=name,
        )
        self.call("StartWorkflowExecution", request)

    def step(self, name: str, *commands: Command, more: bool = False) -> None:
        """Answer the run's next workflow task, and ask for another one."""
        polled = PollWorkflowTaskQueueRequest(
            namespace="default", task_queue=TaskQueue(name=name), identity=WORKER
        )
        answer = RespondWorkflowTaskCompletedRequest(
            namespace="default",
            task_token=self.call("PollWorkflowTaskQueue", polled).task_token,
            commands=commands,
            force_create_new_workflow_task=more,
        )
        self.call("RespondWorkflowTaskCompleted", answer)

    def signal(self, name: str, number: int) -> None:
        request = SignalWorkflowExecutionRequest(
            namespace="default",
            workflow_execution=WorkflowExecution(workflow_id=name),
            signal_name="go",
            request_id=f"{name}-{number}",
        )
        self.call("SignalWorkflowExecution", request)

    def activity(self, name: str) -> bytes:
        polled = PollActivityTaskQueueRequest(
            namespace="default", task_queue=TaskQueue(name=name), identity=WORKER
        )
        token: bytes = self.call("PollActivityTaskQueue", polled).task_token
        assert token
        return token

    def heartbeat(self, token: bytes) -> None:
        request = RecordActivityTaskHeartbeatRequest(
            namespace="default", task_token=token, details=payloads("half")
        )
        self.call("RecordActivityTaskHeartbeat", request)

    def complete(self, token: bytes) -> None:
        request = RespondActivityTaskCompletedRequest(
            namespace="default", task_token=token, result=payloads("done")
        )
        self.call("RespondActivityTaskCompleted", request)

    def cost(self, acts: Iterable[Callable[[], Any]]) -> float:
        """Write units of one of these, on average. Each is made by a process that knows its run."""
        self.deployment.counting.take()
        made = [act() for act in acts]
        return self.deployment.counting.take().write_units / len(made)


@pytest.fixture
def runs(account: Account, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runs]:
    with opened(account, monkeypatch) as tables:
        yield Runs(Deployment(tables))


def activities(name: str, count: int) -> list[Command]:
    return [
        Command(
            command_type=CommandType.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK,
            schedule_activity_task_command_attributes=ScheduleActivityTaskCommandAttributes(
                activity_id=str(number),
                activity_type=ActivityType(name="greet"),
                task_queue=TaskQueue(name=name),
                start_to_close_timeout=Duration(seconds=600),
                heartbeat_timeout=Duration(seconds=60),
                input=payloads("World"),
            ),
        )
        for number in range(count)
    ]


def markers(count: int) -> list[Command]:
    return [
        Command(
            command_type=CommandType.COMMAND_TYPE_RECORD_MARKER,
            record_marker_command_attributes=RecordMarkerCommandAttributes(marker_name=str(number)),
        )
        for number in range(count)
    ]


def told(what: str, small: float, large: float) -> float:
    """Print the write units of one in a small run and in a large one; their ratio."""
    print(f"{what}: {small:.1f} in a small run, {large:.1f} in a large one, ratio {large / small:.2f}")
    return large / small


def test_signals_and_workflow_tasks_at_ten_thousand_events(runs: Runs):
    for name, count in (("small", 10), ("large", EVENTS)):
        runs.start(name)
        for _ in range(0, count, 2_000):
            runs.step(name, *markers(min(count, 2_000)), more=True)
        runs.step(name)

    def signals(name: str) -> float:
        return runs.cost(partial(runs.signal, name, number) for number in range(SAMPLES))

    def rounds(name: str) -> float:
        def one(number: int) -> None:
            runs.signal(name, SAMPLES + number)
            runs.step(name, *markers(1))

        return runs.cost(partial(one, number) for number in range(SAMPLES))

    assert told("a signal", signals("small"), signals("large")) <= RATIO_MAX
    for name in ("small", "large"):
        runs.step(name)
    ratio = told("a signal, its workflow task and a marker", rounds("small"), rounds("large"))
    assert ratio <= RATIO_MAX


def test_an_activity_s_life_where_a_thousand_are_pending(runs: Runs):
    small, large = [f"small-{number}" for number in range(SAMPLES)], ["large"] * SAMPLES
    for name in small:
        runs.start(name)
        runs.step(name, *activities(name, 1))
    runs.start("large")
    runs.step("large", *activities("large", PENDING))

    def lives(names: list[str]) -> list[float]:
        tokens: list[bytes] = []
        claims = runs.cost(partial(lambda name: tokens.append(runs.activity(name)), name) for name in names)
        return [
            claims,
            runs.cost(partial(runs.heartbeat, token) for token in tokens),
            runs.cost(partial(runs.complete, token) for token in tokens),
        ]

    of_small, of_large = lives(small), lives(large)
    for what, *costs in zip(("a claim", "a heartbeat", "a completion"), of_small, of_large, strict=True):
        told(what, *costs)
    assert told("all three", sum(of_small), sum(of_large)) <= RATIO_MAX
