"""What a workload did is read from its calls of the API."""

import pytest
from temporalio.api.command.v1 import Command
from temporalio.api.common.v1 import Payload, Payloads
from temporalio.api.enums.v1 import CommandType
from temporalio.api.workflowservice.v1 import (
    ExecuteMultiOperationResponse,
    PollActivityTaskQueueResponse,
    RespondActivityTaskCompletedRequest,
    RespondWorkflowTaskCompletedRequest,
    StartWorkflowExecutionRequest,
    StartWorkflowExecutionResponse,
    UpdateWorkflowExecutionResponse,
)

from perdure.cost.counts import FACTS
from perdure.cost.facts import facts_of


def of(method, request=b"", response=b""):
    parts = [part if isinstance(part, bytes) else part.SerializeToString() for part in (request, response)]
    return dict(facts_of(method, *parts))


def completion(*names):
    commands = [Command(command_type=CommandType.Value(f"COMMAND_TYPE_{name}")) for name in names]
    return RespondWorkflowTaskCompletedRequest(commands=commands)


@pytest.mark.parametrize("started, facts", [(True, {"workflows_started": 1}), (False, {})])
def test_a_start_counts_when_it_started_something(started, facts):
    response = StartWorkflowExecutionResponse(started=started)
    assert of("StartWorkflowExecution", StartWorkflowExecutionRequest(), response) == facts


def test_commands_are_what_a_workflow_does():
    names = ["SCHEDULE_ACTIVITY_TASK", "SCHEDULE_ACTIVITY_TASK", "START_TIMER"]
    assert of("RespondWorkflowTaskCompleted", completion(*names, "COMPLETE_WORKFLOW_EXECUTION")) == {
        "activities_scheduled": 2,
        "timers_started": 1,
    }


def test_a_child_is_an_intent_and_a_start():
    assert of("RespondWorkflowTaskCompleted", completion("START_CHILD_WORKFLOW_EXECUTION")) == {
        "children_initiated": 1,
        "workflows_started": 1,
    }


def test_all_markers_of_a_workflow_task_count_once():
    assert of("RespondWorkflowTaskCompleted", completion(*["RECORD_MARKER"] * 5)) == {"marker_tasks": 1}


@pytest.mark.parametrize(
    "name, fact",
    [
        ("CONTINUE_AS_NEW_WORKFLOW_EXECUTION", "workflows_started"),
        ("SIGNAL_EXTERNAL_WORKFLOW_EXECUTION", "signals"),
        ("UPSERT_WORKFLOW_SEARCH_ATTRIBUTES", "search_attribute_upserts"),
    ],
)
def test_other_commands_that_are_charged_for(name, fact):
    assert of("RespondWorkflowTaskCompleted", completion(name)) == {fact: 1}


@pytest.mark.parametrize("attempt, facts", [(0, {}), (1, {}), (2, {"activity_retries": 1})])
def test_an_attempt_after_the_first_is_a_retry(attempt, facts):
    assert of("PollActivityTaskQueue", b"", PollActivityTaskQueueResponse(attempt=attempt)) == facts


@pytest.mark.parametrize(
    "method, fact",
    [
        ("SignalWorkflowExecution", "signals"),
        ("SignalWithStartWorkflowExecution", "signals"),
        ("QueryWorkflow", "queries"),
        ("UpdateWorkflowExecution", "updates"),
        ("RecordActivityTaskHeartbeat", "heartbeats"),
        ("RecordActivityTaskHeartbeatById", "heartbeats"),
    ],
)
def test_calls_that_are_one_fact_each(method, fact):
    assert of(method) == {fact: 1}


def test_a_start_with_an_update_is_both():
    response = ExecuteMultiOperationResponse(
        responses=[
            {"start_workflow": StartWorkflowExecutionResponse(started=True)},
            {"update_workflow": UpdateWorkflowExecutionResponse()},
        ]
    )
    assert of("ExecuteMultiOperation", b"", response) == {"workflows_started": 1, "updates": 1}


@pytest.mark.parametrize("method", ["GetWorkflowExecutionHistory", "GetSystemInfo", "DescribeNamespace"])
def test_reading_is_no_fact(method):
    assert of(method) == {}


def test_payloads_are_measured_where_a_step_writes_them():
    payload = Payload(metadata={"encoding": b"json/plain"}, data=b"x" * 1_000)
    request = RespondActivityTaskCompletedRequest(result=Payloads(payloads=[payload, payload]))
    facts = of("RespondActivityTaskCompleted", request)
    assert facts == {"payload_gigabytes": pytest.approx(2 * payload.ByteSize() / 1e9)}


def test_only_known_facts_come_out():
    assert set(of("RespondWorkflowTaskCompleted", completion("START_TIMER", "RECORD_MARKER"))) <= set(FACTS)
