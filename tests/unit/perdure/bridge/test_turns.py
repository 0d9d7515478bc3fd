"""Calls that change one run take turns; all others go as they come."""

import asyncio
import base64
import json

import grpc
import pytest
from temporalio.api.workflowservice.v1 import request_response_pb2 as requests

from durable_core.adapters.aws import messages
from durable_core.model.task_tokens import (
    ActivityTaskToken,
    QueryTaskToken,
    WorkflowTaskToken,
    encode,
)
from durable_core.model.tasks import ActivityTask, Task
from perdure.bridge.endpoint import Answer
from perdure.bridge.errors import CallFailed
from perdure.bridge.polling import POLLS, TASK_HEADER, WORKFLOW_SERVICE
from perdure.bridge.requests import workflow_changed_by
from perdure.bridge.turns import InTurns

ACTIVITY = encode(ActivityTaskToken("namespace", "w", "run", 5, 1, "a"))
WORKFLOW = encode(WorkflowTaskToken("namespace", "w", "run", 2, 3, 1))
QUERY = encode(QueryTaskToken("namespace", "queue", "query"))


def changed(name, **fields):
    body = getattr(requests, f"{name}Request")(**fields).SerializeToString()
    return workflow_changed_by(f"{WORKFLOW_SERVICE}/{name}", body, {})


def task_header(body):
    word = json.dumps({"body": body, "receipt": "r", "waited_ms": 1})
    return {TASK_HEADER: base64.urlsafe_b64encode(word.encode()).decode()}


@pytest.mark.parametrize(
    "name, fields",
    [
        ("RespondWorkflowTaskCompleted", {"task_token": WORKFLOW}),
        ("RespondWorkflowTaskFailed", {"task_token": WORKFLOW}),
        ("RespondActivityTaskCompleted", {"task_token": ACTIVITY}),
        ("RecordActivityTaskHeartbeat", {"task_token": ACTIVITY}),
        ("RespondActivityTaskFailedById", {"workflow_id": "w"}),
        ("SignalWithStartWorkflowExecution", {"workflow_id": "w"}),
        ("SignalWorkflowExecution", {"workflow_execution": {"workflow_id": "w"}}),
        ("TerminateWorkflowExecution", {"workflow_execution": {"workflow_id": "w"}}),
    ],
)
def test_a_change_is_known_by_its_workflow(name, fields):
    assert changed(name, **fields) == "w"


@pytest.mark.parametrize(
    "name, fields",
    [
        ("UpdateWorkflowExecution", {"workflow_execution": {"workflow_id": "w"}}),
        ("GetWorkflowExecutionHistory", {"execution": {"workflow_id": "w"}}),
        ("RespondQueryTaskCompleted", {"task_token": QUERY}),
        ("RespondWorkflowTaskCompleted", {"task_token": QUERY}),
        ("RespondActivityTaskCompleted", {"task_token": b"\xc1"}),
        ("RespondActivityTaskCompleted", {}),
    ],
)
def test_what_waits_for_a_run_or_makes_no_sense_takes_no_turn(name, fields):
    assert changed(name, **fields) is None


def test_a_body_that_is_no_message_takes_no_turn():
    assert workflow_changed_by(f"{WORKFLOW_SERVICE}/SignalWorkflowExecution", b"\xff", {}) is None


@pytest.mark.parametrize("path", sorted(POLLS))
def test_a_claim_is_a_change_and_a_poll_is_none(path):
    task = Task(7, "namespace", "w", "run", "queue", 2, ActivityTask(5, 1, 1))
    assert workflow_changed_by(path, b"", task_header(messages.of_task(task))) == "w"
    assert workflow_changed_by(path, b"", task_header("?")) is None
    assert workflow_changed_by(path, b"", {TASK_HEADER: "?"}) is None
    assert workflow_changed_by(path, b"", {}) is None


class Service:
    """Answers each call when it is told to; knows which calls have come and how many are under way."""

    def __init__(self):
        self.came = []
        self.under_way = 0
        self.most_under_way = 0
        self.patience = []
        self.answers = asyncio.Semaphore(0)

    async def call(self, path, body, headers, timeout_seconds):
        self.came.append(requests.SignalWorkflowExecutionRequest.FromString(body).signal_name)
        self.patience.append(timeout_seconds)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await self.answers.acquire()
        finally:
            self.under_way -= 1
        return Answer(body, {})


def signal(caller, name, workflow_id="w", seconds=None):
    request = requests.SignalWorkflowExecutionRequest(
        workflow_execution={"workflow_id": workflow_id}, signal_name=name
    )
    path = f"{WORKFLOW_SERVICE}/SignalWorkflowExecution"
    return asyncio.create_task(caller.call(path, request.SerializeToString(), {}, seconds))


async def settled():
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.asyncio
async def test_they_come_one_after_the_other_and_in_their_order():
    service = Service()
    caller = InTurns(service)
    calls = [signal(caller, str(number)) for number in range(5)]
    await settled()
    assert service.came == ["0"]
    for _ in calls:
        service.answers.release()
    await asyncio.gather(*calls)
    assert service.came == ["0", "1", "2", "3", "4"]
    assert service.most_under_way == 1
    assert not caller._queues


@pytest.mark.asyncio
async def test_other_workflows_do_not_wait():
    service = Service()
    caller = InTurns(service)
    calls = [signal(caller, name, workflow_id=name) for name in ("a", "b")]
    await settled()
    assert service.came == ["a", "b"]
    service.answers.release()
    service.answers.release()
    await asyncio.gather(*calls)


@pytest.mark.asyncio
async def test_a_call_that_hangs_keeps_its_turn_for_a_while_only():
    service = Service()
    caller = InTurns(service, seconds_max=0.05)
    calls = [signal(caller, name) for name in ("hangs", "next")]
    await settled()
    assert service.came == ["hangs"]
    await asyncio.sleep(0.2)
    assert service.came == ["hangs", "next"]
    service.answers.release()
    service.answers.release()
    await asyncio.gather(*calls)
    assert not caller._queues


@pytest.mark.asyncio
async def test_a_caller_that_leaves_makes_room_whether_its_turn_had_come_or_not():
    service = Service()
    caller = InTurns(service)
    first, second, third = (signal(caller, name) for name in ("first", "second", "third"))
    await settled()
    second.cancel()
    first.cancel()
    await settled()
    assert service.came == ["first", "third"]
    service.answers.release()
    await third
    assert first.cancelled()
    assert second.cancelled()
    assert not caller._queues


@pytest.mark.asyncio
async def test_the_time_of_waiting_is_taken_from_the_callers():
    service = Service()
    caller = InTurns(service)
    first, second, late = (
        signal(caller, name, seconds=seconds)
        for name, seconds in (("first", 9.0), ("second", 9.0), ("late", 0.05))
    )
    await asyncio.sleep(0.1)
    for _ in range(3):
        service.answers.release()
    await asyncio.gather(first, second)
    assert service.patience[0] > service.patience[1] + 0.05
    with pytest.raises(CallFailed) as caught:
        await late
    assert caught.value.code == grpc.StatusCode.DEADLINE_EXCEEDED
    assert service.came == ["first", "second"]
