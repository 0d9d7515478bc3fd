"""Polls of callers that watch SQS themselves: the headers say it, and nonsense in them is refused."""

import base64
import json

import pytest
from temporalio.api.workflowservice.v1 import PollWorkflowTaskQueueRequest, PollWorkflowTaskQueueResponse

from durable_core.adapters.aws.answering import HandedOver, Limits
from durable_core.adapters.decorators import ManualClock
from durable_core.model.errors import InvalidArgument
from durable_core.model.times import MILLISECOND, SECOND
from durable_core.services.calls import Rpc
from durable_core.wire.http import HttpRequest
from durable_core.wire.methods import WORKFLOW_SERVICE_NAME, MethodTable
from durable_core.wire.router import Router
from functions.matching.watching import Polls

NOW = 1_900_000_000 * SECOND
UNTIL = Limits(NOW + 60 * SECOND, NOW + 25 * SECOND)
ROUTER = Router(MethodTable({WORKFLOW_SERVICE_NAME: {"PollWorkflowTaskQueue": Rpc(print, waits=True)}}))
TASK = PollWorkflowTaskQueueResponse(task_token=b"token")


class Answering:
    def __init__(self):
        self.asked = []
        self.probed = (None, "https://sqs/1/q")

    def call(self, rpc, request, until, headers):
        self.asked.append(("call", until))
        return TASK

    def probe(self, rpc, request, watches_until, headers):
        self.asked.append(("probe", watches_until))
        return self.probed

    def claim(self, rpc, request, message, until, headers):
        self.asked.append(("claim", message))
        return TASK


def run(answering, **headers):
    said = {"content-type": "application/proto"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    body = PollWorkflowTaskQueueRequest(namespace="default").SerializeToString()
    call = ROUTER.route(
        HttpRequest("POST", f"/{WORKFLOW_SERVICE_NAME}/PollWorkflowTaskQueue", "", said, body)
    )
    return Polls(answering, ManualClock(NOW)).run(call, UNTIL)


def handed_over(message):
    return base64.urlsafe_b64encode(json.dumps(message).encode()).decode()


def test_a_poll_without_these_headers_waits_here():
    answering = Answering()
    assert run(answering) == (TASK, {})
    assert answering.asked == [("call", UNTIL)]


def test_a_watcher_is_told_the_queue_and_answered_empty():
    answering = Answering()
    answer, headers = run(answering, perdure_poll_seconds="300")
    assert answer.SerializeToString() == b""
    assert headers == {"perdure-queue-url": "https://sqs/1/q"}
    assert answering.asked == [("probe", NOW + 300 * SECOND)]


def test_a_watcher_whose_poll_has_an_answer_gets_it():
    answering = Answering()
    answering.probed = (TASK, "")
    assert run(answering, perdure_poll_seconds="300") == (TASK, {})


def test_a_handed_over_message_is_claimed():
    answering = Answering()
    message = {"body": "the body", "receipt": "the receipt"}
    assert run(answering, perdure_task=handed_over(message), perdure_poll_seconds="300") == (TASK, {})
    assert answering.asked == [("claim", HandedOver("the body", "the receipt"))]


@pytest.mark.parametrize("said, waited", [(1_500, 1_500), (-1, 0), (10**12, 3_600_000)])
def test_a_watcher_says_how_long_its_poll_has_waited(said, waited):
    answering = Answering()
    run(answering, perdure_task=handed_over({"body": "b", "receipt": "r", "waited_ms": said}))
    assert answering.asked == [("claim", HandedOver("b", "r", waited * MILLISECOND))]


@pytest.mark.parametrize("seconds", ["", "0", "-1", "1.5", "601", "for ever", "٣"])
def test_nonsense_seconds_are_refused(seconds):
    with pytest.raises(InvalidArgument, match="perdure-poll-seconds"):
        run(Answering(), perdure_poll_seconds=seconds)


@pytest.mark.parametrize(
    "text",
    [
        "?",
        "",
        "AAAA",
        handed_over({}),
        handed_over([]),
        handed_over(None),
        handed_over({"body": 1, "receipt": "r"}),
        handed_over({"body": "b", "receipt": "r", "waited_ms": "long"}),
    ],
)
def test_a_nonsense_message_is_refused(text):
    with pytest.raises(InvalidArgument, match="perdure-task"):
        run(Answering(), perdure_task=text)
