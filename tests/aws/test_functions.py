"""The handlers on the local AWS: a workflow's whole life through tables, stream and queues, and what may go wrong."""

import base64
import json
import sys

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.common.v1 import WorkflowExecution, WorkflowType
from temporalio.api.enums.v1 import EventType as T
from temporalio.api.enums.v1 import HistoryEventFilterType
from temporalio.api.query.v1 import WorkflowQuery
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    DescribeNamespaceResponse,
    GetWorkflowExecutionHistoryRequest,
    GetWorkflowExecutionHistoryResponse,
    PollActivityTaskQueueRequest,
    PollActivityTaskQueueResponse,
    PollWorkflowTaskQueueRequest,
    PollWorkflowTaskQueueResponse,
    QueryWorkflowRequest,
    RespondActivityTaskCompletedRequest,
    RespondActivityTaskCompletedResponse,
    RespondWorkflowTaskCompletedRequest,
    RespondWorkflowTaskCompletedResponse,
    StartWorkflowExecutionRequest,
    StartWorkflowExecutionResponse,
)

from durable_core.adapters.aws import messages
from durable_core.adapters.aws.clients import Clients
from durable_core.adapters.aws.renewal import Renewal
from durable_core.adapters.decorators import ManualClock
from durable_core.adapters.system import SystemClock
from durable_core.config import BadSettings
from durable_core.model.times import DAY
from functions.frontend import handler as frontend
from functions.matching import renew
from tests.properties import commands
from tests.properties.world import QUEUE as QUEUE_NAME
from tests.unit.functions.events import Context, body_of, http_event

from .functions import Refused, forget, functions
from .local import PREFIX

pytestmark = pytest.mark.aws

QUEUE = TaskQueue(name=QUEUE_NAME)
NAMESPACE = "default"
PATIENT = "20000"
IMPATIENT = "1500"
CLOSE = HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT


@pytest.fixture
def deployment(account, monkeypatch):
    with functions(account, monkeypatch) as deployment:
        yield deployment


@pytest.fixture
def slow_deployment(account, monkeypatch):
    """Without the fast path."""
    with functions(account, monkeypatch, PERDURE_FAST_PATH="off") as deployment:
        yield deployment


def start(deployment, workflow_id="order-17"):
    request = StartWorkflowExecutionRequest(
        namespace=NAMESPACE,
        workflow_id=workflow_id,
        workflow_type=WorkflowType(name="Order"),
        task_queue=QUEUE,
        request_id=f"start-{workflow_id}",
    )
    return deployment.call("StartWorkflowExecution", request, StartWorkflowExecutionResponse)


def workflow_task(deployment, patience=PATIENT, **headers):
    request = PollWorkflowTaskQueueRequest(namespace=NAMESPACE, task_queue=QUEUE, identity="w")
    headers["connect_timeout_ms"] = patience
    return deployment.call("PollWorkflowTaskQueue", request, PollWorkflowTaskQueueResponse, **headers)


def activity_task(deployment):
    request = PollActivityTaskQueueRequest(namespace=NAMESPACE, task_queue=QUEUE, identity="w")
    answer = PollActivityTaskQueueResponse
    return deployment.call("PollActivityTaskQueue", request, answer, connect_timeout_ms=PATIENT)


def respond(deployment, task, *said):
    request = RespondWorkflowTaskCompletedRequest(
        namespace=NAMESPACE, task_token=task.task_token, commands=said
    )
    return deployment.call("RespondWorkflowTaskCompleted", request, RespondWorkflowTaskCompletedResponse)


def complete_activity(deployment, task):
    request = RespondActivityTaskCompletedRequest(namespace=NAMESPACE, task_token=task.task_token)
    deployment.call("RespondActivityTaskCompleted", request, RespondActivityTaskCompletedResponse)


def history(deployment, run_id, **how):
    request = GetWorkflowExecutionHistoryRequest(
        namespace=NAMESPACE,
        execution=WorkflowExecution(workflow_id="order-17", run_id=run_id),
        **how,
    )
    answer = GetWorkflowExecutionHistoryResponse
    reply = deployment.call("GetWorkflowExecutionHistory", request, answer, connect_timeout_ms=PATIENT)
    return [event.event_type for event in reply.history.events]


def test_a_workflow_with_an_activity_lives_on_the_fast_path_alone(deployment):
    run_id = start(deployment).run_id
    respond(deployment, workflow_task(deployment), commands.schedule_activity("x", Duration(seconds=60)))
    complete_activity(deployment, activity_task(deployment))
    respond(deployment, workflow_task(deployment), commands.complete_workflow())
    assert history(deployment, run_id)[-1] == T.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED
    closing = history(deployment, run_id, wait_new_event=True, history_event_filter_type=CLOSE)
    assert closing == [T.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED]


def test_a_caller_that_waits_itself_is_told_to_come_again_and_gets_the_end(deployment):
    run_id = start(deployment).run_id
    request = GetWorkflowExecutionHistoryRequest(
        namespace=NAMESPACE,
        execution=WorkflowExecution(workflow_id="order-17"),
        wait_new_event=True,
        history_event_filter_type=CLOSE,
    )
    looked = deployment.respond("GetWorkflowExecutionHistory", request, perdure_wait="look")
    assert body_of(looked) == b""
    again = looked["headers"]["perdure-again"]
    assert again == run_id
    how = {"perdure_wait": "last", "perdure_resume": again}
    answer = GetWorkflowExecutionHistoryResponse
    assert deployment.call("GetWorkflowExecutionHistory", request, answer, **how).next_page_token
    respond(deployment, workflow_task(deployment), commands.complete_workflow())
    how = {"perdure_wait": "look", "perdure_resume": again}
    ended = deployment.call("GetWorkflowExecutionHistory", request, answer, **how)
    assert [event.event_type for event in ended.history.events] == [T.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED]


def test_a_workflow_lives_on_the_relay_alone(slow_deployment):
    deployment = slow_deployment
    run_id = start(deployment).run_id
    assert not workflow_task(deployment, IMPATIENT).task_token
    deployment.relay(deployment.records())
    respond(deployment, workflow_task(deployment), commands.schedule_activity("x", Duration(seconds=60)))
    deployment.relay(deployment.records())
    complete_activity(deployment, activity_task(deployment))
    deployment.relay(deployment.records())
    respond(deployment, workflow_task(deployment), commands.complete_workflow())
    assert history(deployment, run_id)[-1] == T.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED


def test_the_relay_after_the_fast_path_dispatches_nothing_twice(deployment):
    start(deployment)
    records = deployment.records()
    deployment.relay(records)
    deployment.relay(records)
    assert [deployment.backlog(url) for url in deployment.task_queues()] == [1]
    assert workflow_task(deployment).task_token
    deployment.relay(records)
    assert not workflow_task(deployment, IMPATIENT).task_token


def test_a_child_is_started_and_its_end_told_by_the_history_service(deployment):
    run_id = start(deployment).run_id
    respond(deployment, workflow_task(deployment), commands.start_child("kid", 1, Duration()))
    assert deployment.serve() == []
    task = workflow_task(deployment)
    while task.workflow_execution.workflow_id != "kid":
        respond(deployment, task)
        task = workflow_task(deployment)
    respond(deployment, task, commands.complete_workflow())
    assert deployment.serve() == []
    assert T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED in history(deployment, run_id)


def test_a_timer_fires_through_stream_and_queue(deployment):
    run_id = start(deployment).run_id
    respond(
        deployment,
        workflow_task(deployment),
        commands.start_timer("t", Duration(seconds=1, nanos=300_000_000)),
    )
    deployment.arm(deployment.records())
    for _ in range(4):
        deployment.fire(wait_seconds=2)
        if T.EVENT_TYPE_TIMER_FIRED in history(deployment, run_id):
            break
    assert T.EVENT_TYPE_TIMER_FIRED in history(deployment, run_id)
    assert workflow_task(deployment).task_token


def test_a_timer_of_days_is_a_schedule(deployment, account):
    start(deployment)
    respond(deployment, workflow_task(deployment), commands.start_timer("t", Duration(seconds=3 * 86_400)))
    deployment.arm(deployment.records())
    deployment.fire(wait_seconds=12)
    deployment.arm(deployment.records())
    schedules = account.client("scheduler").list_schedules(GroupName="test")["Schedules"]
    assert len(schedules) == 1


def test_a_query_is_answered_while_its_caller_waits(deployment):
    """Nobody answers meanwhile here, so the wait ends in a time-out; the task is in the queue all the same."""
    start(deployment)
    respond(deployment, workflow_task(deployment))
    request = QueryWorkflowRequest(
        namespace=NAMESPACE,
        execution=WorkflowExecution(workflow_id="order-17"),
        query=WorkflowQuery(query_type="state"),
    )
    with pytest.raises(Refused, match="deadline_exceeded"):
        deployment.call("QueryWorkflow", request, DescribeNamespaceResponse, connect_timeout_ms="1500")
    assert sum(deployment.backlog(url) for url in deployment.task_queues()) == 1
    assert not workflow_task(deployment, IMPATIENT).task_token


def test_two_environments_take_the_shard_from_each_other(deployment):
    run_id = start(deployment).run_id
    for _ in range(3):
        task = workflow_task(deployment)
        forget()
        respond(deployment, task, commands.schedule_activity("x", Duration(seconds=60)))
        complete_activity(deployment, activity_task(deployment))
    respond(deployment, workflow_task(deployment), commands.complete_workflow())
    assert history(deployment, run_id)[-1] == T.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED


def test_a_service_task_that_fails_comes_again_and_the_others_are_done(deployment):
    start(deployment)
    respond(
        deployment,
        workflow_task(deployment),
        commands.start_child("kid", 1, Duration()),
        commands.signal_external("nobody"),
    )
    deployment.sqs.send_message(
        QueueUrl=deployment.service_url,
        MessageBody="no task",
        MessageGroupId="bad",
        MessageDeduplicationId="bad",
    )
    assert len(deployment.serve()) == 1
    assert deployment.serve() == []
    kinds = history(deployment, "")
    assert T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED in kinds
    assert T.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED in kinds


def test_a_timer_message_that_fails_comes_again_and_the_others_fire(deployment):
    run_id = start(deployment).run_id
    respond(deployment, workflow_task(deployment), commands.start_timer("t", Duration(nanos=1_000_000)))
    deployment.sqs.send_message(QueueUrl=deployment.timer_url, MessageBody="no wake-up")
    deployment.arm(deployment.records())
    failed = [*deployment.fire(wait_seconds=1), *deployment.fire(wait_seconds=2)]
    assert len(set(failed)) == 1
    assert len(failed) == 2, "what fails comes again within a second or so"
    assert T.EVENT_TYPE_TIMER_FIRED in history(deployment, run_id)


def test_a_damaged_record_is_set_aside_and_the_others_are_relayed(slow_deployment):
    deployment = slow_deployment
    start(deployment)
    (good,) = [record for record in deployment.records() if "tasks" in record["dynamodb"]["NewImage"]]
    image = {"tasks": {"B": "AAAA"}}
    damaged = {"eventName": "MODIFY", "dynamodb": {"Keys": {"pk": {"S": "damaged"}}, "NewImage": image}}
    deployment.relay([damaged, good])
    assert workflow_task(deployment).task_token
    letter = deployment.sqs.receive_message(QueueUrl=deployment.dead_letters_url)["Messages"][0]
    assert json.loads(letter["Body"])["what"] == damaged


def test_a_task_that_waits_long_is_sent_again_and_a_young_one_is_left(deployment, account):
    start(deployment)
    (url,) = deployment.task_queues()
    renew.handler({}, Context())
    now = SystemClock().now()
    assert Renewal(Clients(), PREFIX, ManualClock(now + 6 * DAY)).renew() == 0
    assert Renewal(Clients(), PREFIX, ManualClock(now + 8 * DAY)).renew() >= 1
    assert deployment.backlog(url) == 1
    assert workflow_task(deployment).task_token


def test_a_bridge_learns_the_queue_and_hands_its_messages_over(deployment):
    request = PollWorkflowTaskQueueRequest(namespace=NAMESPACE, task_queue=QUEUE, identity="w")
    probe = deployment.respond("PollWorkflowTaskQueue", request, perdure_poll_seconds="300")
    assert (probe["statusCode"], body_of(probe)) == (200, b"")
    url = probe["headers"]["perdure-queue-url"]
    start(deployment)
    message = deployment.sqs.receive_message(QueueUrl=url, WaitTimeSeconds=5)["Messages"][0]
    handed_over = {"body": message["Body"], "receipt": message["ReceiptHandle"]}
    header = base64.urlsafe_b64encode(json.dumps(handed_over).encode()).decode()
    assert len(header) < 4_096
    task = workflow_task(deployment, perdure_task=header)
    assert task.workflow_execution.workflow_id == "order-17"
    assert deployment.backlog(url) == 0
    again = deployment.respond("PollWorkflowTaskQueue", request, perdure_task=header)
    assert (again["statusCode"], body_of(again)) == (200, b"")


def test_a_bridge_cannot_hand_over_a_message_of_another_queue(deployment):
    start(deployment)
    task = messages.to_task(
        deployment.sqs.receive_message(QueueUrl=deployment.task_queues()[0])["Messages"][0]["Body"]
    )
    header = base64.urlsafe_b64encode(
        json.dumps({"body": messages.of_task(task), "receipt": "r"}).encode()
    ).decode()
    other = PollWorkflowTaskQueueRequest(
        namespace=NAMESPACE, task_queue=TaskQueue(name="other"), identity="w"
    )
    response = deployment.respond("PollWorkflowTaskQueue", other, perdure_task=header)
    assert response["statusCode"] == 400
    assert "not one of the queue" in json.loads(body_of(response))["message"]


def test_the_default_namespace_is_there_from_the_first_call_on(deployment):
    request = DescribeNamespaceRequest(namespace=NAMESPACE)
    described = deployment.call("DescribeNamespace", request, DescribeNamespaceResponse)
    assert described.config.workflow_execution_retention_ttl.seconds == 86_400


def test_the_temporal_http_api_is_answered_too(deployment):
    event = http_event("/api/v1/namespaces/default", b"", method="GET", at_ms=1 << 60)
    response = frontend.handler(event, Context())
    assert json.loads(body_of(response))["namespaceInfo"]["name"] == NAMESPACE


def test_a_call_writes_one_log_line_with_its_correlation_id(deployment, capsys):
    # The handler was made when another test's output was the standard one.
    frontend.observing.logger.registered_handler.setStream(sys.stdout)
    start(deployment)
    capsys.readouterr()
    deployment.call(
        "DescribeNamespace", DescribeNamespaceRequest(namespace=NAMESPACE), DescribeNamespaceResponse
    )
    (line,) = capsys.readouterr().out.splitlines()
    said = json.loads(line)
    assert (said["message"], said["status"], said["service"]) == ("DescribeNamespace", 200, "frontend")
    assert said["correlation_id"] == "correlated"


def test_what_there_is_to_count_is_a_metric(deployment, capsys):
    start(deployment)
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (metric,) = [line for line in said if "_aws" in line]
    assert metric["WorkflowsStarted"] == [1.0]
    assert metric["service"] == "frontend"
    assert metric["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "Perdure"


def test_a_function_without_its_settings_says_which(monkeypatch):
    forget()
    monkeypatch.setenv("PERDURE_PREFIX", "x")
    with pytest.raises(BadSettings, match="PERDURE_SERVICE_QUEUE_URL is not set"):
        frontend.handler(http_event("/api/v1/namespaces", b"", method="GET"), Context())
