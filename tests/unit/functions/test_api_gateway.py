"""API Gateway's events become requests and answers become responses, in time and within Lambda's bounds."""

import gzip
import json

import pytest
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    DescribeNamespaceResponse,
    StartWorkflowExecutionResponse,
)

from durable_core.adapters.aws.answering import Limits
from durable_core.adapters.decorators import ManualClock
from durable_core.model.errors import NamespaceNotFound
from durable_core.model.times import MILLISECOND, SECOND
from durable_core.services.calls import Rpc
from durable_core.wire.methods import WORKFLOW_SERVICE_NAME, MethodTable
from durable_core.wire.router import Router
from functions import api_gateway
from functions.api_gateway import ApiGateway, request_of

from .events import Context, body_of, http_data

NOW = 1_900_000_000 * SECOND
NOW_MS = NOW // MILLISECOND
DESCRIBE = f"/{WORKFLOW_SERVICE_NAME}/DescribeNamespace"
REQUEST = DescribeNamespaceRequest(namespace="default").SerializeToString()
TABLE = MethodTable({WORKFLOW_SERVICE_NAME: {"DescribeNamespace": Rpc(lambda context, request: None)}})


class Log:
    def __init__(self):
        self.lines = []
        self.counts = []

    @property
    def logger(self):
        return self

    def info(self, message, extra):
        self.lines.append((message, extra))

    def count(self, counts):
        self.counts.append(counts)


class Parts:
    def __init__(self, answer=None):
        self.clock = ManualClock(NOW)
        self.log = Log()
        self.calls = []
        self.answer = answer or DescribeNamespaceResponse()
        self.headers = {}
        self.api = ApiGateway(Router(TABLE), self.clock, self._run, self.log, lambda: {"Conflicts": 2})

    def _run(self, call, until):
        self.calls.append((call, until))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer, self.headers

    def send(self, path=DESCRIBE, body=REQUEST, context=None, **fields):
        fields.setdefault("at_ms", NOW_MS)
        return self.api.answer(http_data(path, body, **fields), context or Context())


def test_a_binary_call_is_decoded_run_and_answered_in_binary():
    described = DescribeNamespaceResponse(failover_version=7)
    parts = Parts(described)
    response = parts.send()
    ((call, _),) = parts.calls
    assert call.request == DescribeNamespaceRequest(namespace="default")
    assert response["statusCode"] == 200
    assert response["headers"]["content-type"] == "application/proto"
    assert DescribeNamespaceResponse.FromString(body_of(response)) == described


def test_a_text_body_is_taken_as_it_is():
    parts = Parts()
    body = b'{"namespace": "caf\xc3\xa9"}'
    parts.send(body=body, encoded=False, headers={"content-type": "application/json"})
    assert parts.calls[0][0].request.namespace == "café"


def test_an_error_is_the_protocols_error_with_its_detail():
    response = Parts(NamespaceNotFound("default")).send()
    assert response["statusCode"] == 404
    answer = json.loads(body_of(response))
    assert answer["code"] == "not_found"
    assert answer["details"][0]["type"] == "temporal.api.errordetails.v1.NamespaceNotFoundFailure"


def test_a_call_that_nobody_knows_is_answered_without_being_run():
    parts = Parts()
    assert parts.send(f"/{WORKFLOW_SERVICE_NAME}/NoSuchMethod")["statusCode"] == 501
    assert not parts.calls


def test_a_header_of_the_answer_is_sent():
    parts = Parts()
    parts.headers = {"perdure-queue-url": "https://sqs/1/q"}
    assert parts.send()["headers"]["perdure-queue-url"] == "https://sqs/1/q"


def test_the_edge_gives_up_25_seconds_after_the_arrival_at_the_gateway():
    parts = Parts()
    parts.send(at_ms=NOW_MS - 4_000)
    assert parts.calls[0][1] == Limits(NOW + 60 * SECOND, NOW + 21 * SECOND)


def test_the_edge_gives_up_before_lambda_ends_the_call():
    parts = Parts()
    parts.send(context=Context(remaining_ms=10_000))
    assert parts.calls[0][1].edge == NOW + 8 * SECOND


def test_the_gateways_clock_may_be_ahead_of_ours():
    parts = Parts()
    parts.send(at_ms=NOW_MS + 3_600_000)
    assert parts.calls[0][1].edge == NOW + 25 * SECOND


def test_a_caller_says_how_long_it_waits():
    parts = Parts()
    parts.send(headers={"connect-timeout-ms": "1500"})
    assert parts.calls[0][1].caller == NOW + 1500 * MILLISECOND


def test_each_call_is_a_log_line_and_what_happened_is_counted():
    parts = Parts(StartWorkflowExecutionResponse(run_id="r", started=True))
    parts.send()
    assert parts.log.lines == [("DescribeNamespace", {"status": 200, "ms": 0})]
    assert parts.log.counts == [{"WorkflowsStarted": 1, "Conflicts": 2}]


@pytest.mark.parametrize(
    "arrived, raw",
    [
        ("/api/v1/namespaces/default/workflows/a%2Fb", "/api/v1/namespaces/default/workflows/a%2Fb"),
        ("/api/v1/namespaces/default/workflows/a b", "/api/v1/namespaces/default/workflows/a%20b"),
        ("/api/v1/namespaces/default/workflows/é", "/api/v1/namespaces/default/workflows/%C3%A9"),
        (
            "/api/v1/namespaces/default/workflows/100% é",
            "/api/v1/namespaces/default/workflows/100%25%20%C3%A9",
        ),
    ],
)
def test_a_path_that_was_decoded_on_its_way_is_encoded_again(arrived, raw):
    assert request_of(http_data(arrived)).path == raw


def test_a_stage_in_the_path_is_not_the_calls():
    assert request_of(http_data(DESCRIBE, stage="prod")).path == DESCRIBE


def test_query_and_headers_arrive():
    request = request_of(http_data("/x", method="GET", query="a=%20b", headers={"X-Name": "v"}))
    assert (request.method, request.query, request.headers["x-name"]) == ("GET", "a=%20b", "v")


def large(size):
    response = DescribeNamespaceResponse()
    response.namespace_info.description = "x" * size
    return response


def test_a_large_answer_is_compressed_for_a_caller_that_takes_it():
    answer = large(api_gateway.COMPRESSED_FROM_BYTES)
    response = Parts(answer).send(headers={"accept-encoding": "br, gzip"})
    assert response["headers"]["content-encoding"] == "gzip"
    assert DescribeNamespaceResponse.FromString(gzip.decompress(body_of(response))) == answer
    assert "content-encoding" not in Parts(answer).send()["headers"]


def test_an_answer_that_lambda_would_refuse_is_refused_in_words():
    answer = large(api_gateway.RESPONSE_BYTES_MAX)
    response = Parts(answer).send()
    assert response["statusCode"] == 429
    assert "ask for a smaller page" in json.loads(body_of(response))["message"]
    assert Parts(answer).send(headers={"accept-encoding": "gzip"})["statusCode"] == 200
