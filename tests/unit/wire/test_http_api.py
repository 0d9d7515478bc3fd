"""The Temporal HTTP API: routes, what binds what, and the form of answers. Observed on the Temporal server 1.32."""

import gzip
import json

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.common.v1 import Payload, WorkflowType
from temporalio.api.enums.v1 import HistoryEventFilterType
from temporalio.api.workflowservice.v1 import StartWorkflowExecutionResponse

from durable_core.model.errors import NamespaceNotFound
from durable_core.wire.http import REQUEST_BYTES_MAX, HttpCall, HttpResponse
from durable_core.wire.http_routes import routes_of
from durable_core.wire.router import Router
from tests.unit.wire.tables import http, small_table

ROUTER = Router(small_table())
WORKFLOW = "/api/v1/namespaces/shop/workflows/order-1"


def route(*arguments, **options):
    return ROUTER.route(http(*arguments, **options))


def called(*arguments, **options):
    call = route(*arguments, **options)
    assert isinstance(call, HttpCall), call
    return call


def refused(*arguments, **options):
    response = route(*arguments, **options)
    assert isinstance(response, HttpResponse), response
    return response.status, json.loads(response.body)


def test_every_annotated_method_has_the_routes_of_its_annotation():
    table = small_table()
    routes = list(routes_of(table.by_path["/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo"]))
    assert [(one.verb, one.segments) for one in routes] == [
        ("GET", ("system-info",)),
        ("GET", ("api", "v1", "system-info")),
    ]
    assert sum(len(list(routes_of(method))) for method in table.by_path.values()) > 150


@pytest.mark.parametrize("prefix", ["", "/api/v1"])
def test_path_variables_bind_nested_fields(prefix):
    call = called("GET", f"{prefix}/namespaces/shop/workflows/order-1/history")
    assert call.method.name == "GetWorkflowExecutionHistory"
    assert call.request.namespace == "shop"
    assert call.request.execution.workflow_id == "order-1"


def test_a_path_is_split_before_it_is_decoded():
    call = called("GET", "/api/v1/namespaces/shop/workflows/a%2Fb%20%C3%A9/history")
    assert call.request.execution.workflow_id == "a/b é"


def test_an_empty_segment_binds_an_empty_text():
    assert called("GET", "/api/v1/namespaces/shop/workflows/").request.execution.workflow_id == ""


def test_the_body_fills_the_message_and_the_path_wins():
    body = {
        "namespace": "other",
        "workflowId": "other",
        "workflow_type": {"name": "pay"},
        "input": ["hello"],
        "workflowRunTimeout": "5s",
    }
    request = called("POST", WORKFLOW + "?requestEagerExecution=true", json.dumps(body).encode()).request
    assert (request.namespace, request.workflow_id) == ("shop", "order-1")
    assert request.workflow_type == WorkflowType(name="pay")
    assert request.input.payloads == [Payload(metadata={"encoding": b"json/plain"}, data=b'"hello"')]
    assert request.workflow_run_timeout == Duration(seconds=5)
    assert not request.request_eager_execution


def test_an_empty_body_is_an_empty_message_whatever_its_content_type_says():
    headers = {"content-type": "application/x-www-form-urlencoded"}
    call = called("POST", WORKFLOW + "/signal/paid", b"", headers)
    assert call.request.signal_name == "paid"
    assert call.request.workflow_execution.workflow_id == "order-1"


def test_a_compressed_body_is_read():
    body = gzip.compress(b'{"identity": "me"}')
    assert called("POST", WORKFLOW, body, {"content-encoding": "gzip"}).request.identity == "me"


def test_query_parameters_bind_fields_by_either_name_and_strangers_are_ignored():
    query = (
        "?execution.runId=r&maximumPageSize=7&wait_new_event=true&nextPageToken=aGk%3D"
        "&historyEventFilterType=HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT&skipArchival=1&nope=1&execution.nope=2"
    )
    request = called("GET", WORKFLOW + "/history" + query).request
    assert request.execution.run_id == "r"
    assert request.maximum_page_size == 7
    assert request.wait_new_event
    assert request.skip_archival
    assert request.next_page_token == b"hi"
    assert request.history_event_filter_type == HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT


def test_a_query_parameter_does_not_change_what_the_path_binds():
    request = called("GET", WORKFLOW + "/history?execution.workflow_id=other&namespace=other").request
    assert (request.namespace, request.execution.workflow_id) == ("shop", "order-1")


def test_an_enumeration_is_read_by_number_too():
    assert (
        called("GET", WORKFLOW + "/history?historyEventFilterType=2").request.history_event_filter_type == 2
    )


@pytest.mark.parametrize(
    "target, field",
    [
        ("/history?maximumPageSize=many", "maximum_page_size"),
        ("/history?maximumPageSize=99999999999", "maximum_page_size"),
        ("/history?waitNewEvent=yes", "wait_new_event"),
        ("/history?nextPageToken=!", "next_page_token"),
        ("/history?historyEventFilterType=CLOSE", "history_event_filter_type"),
    ],
)
def test_a_query_parameter_that_does_not_fit_its_field_is_an_invalid_argument(target, field):
    status, error = refused("GET", WORKFLOW + target)
    assert (status, error["code"]) == (400, 3)
    assert error["message"].startswith(f'parsing field "{field}": ')


@pytest.mark.parametrize(
    "body",
    [b"{bad", b'{"nope": 1}', b'{"workflowRunTimeout": "5x"}', b'{"workflowIdReusePolicy": "NOPE"}', b"\xff"],
)
def test_a_body_that_is_no_such_message_is_an_invalid_argument(body):
    status, error = refused("POST", WORKFLOW, body)
    assert (status, error["code"]) == (400, 3)
    assert 0 < len(error["message"]) < 200


def test_a_body_without_shorthand_says_so_in_its_content_type():
    headers = {"content-type": "application/json+no-payload-shorthand"}
    assert refused("POST", WORKFLOW, b'{"input": ["x"]}', headers)[0] == 400


def test_a_body_that_is_too_large_is_refused():
    assert refused("POST", WORKFLOW, b" " * (REQUEST_BYTES_MAX + 1)) == (
        429,
        {"code": 8, "message": f"the request is larger than {REQUEST_BYTES_MAX} bytes"},
    )


@pytest.mark.parametrize("target", ["/", "/api/v1/nope", "/api/v2/system-info", "/namespaces/shop/nope/x"])
def test_a_path_that_is_no_route_is_not_found(target):
    assert refused("GET", target) == (404, {"code": 5, "message": "Not Found"})


@pytest.mark.parametrize("verb", ["PUT", "OPTIONS", "HEAD", "DELETE"])
def test_another_verb_on_a_route_is_not_allowed(verb):
    assert refused(verb, WORKFLOW) == (501, {"code": 12, "message": "Method Not Allowed"})


def test_a_route_of_an_unimplemented_method_says_so():
    status, error = refused("POST", WORKFLOW + "/pause", b"{}")
    assert (status, error["code"]) == (501, 12)
    assert "PauseWorkflowExecution" in error["message"]


@pytest.mark.parametrize(
    "query, accept, content_type",
    [
        ("", "", "application/json"),
        ("", "text/html", "application/json"),
        ("?pretty", "", "application/json+pretty"),
        ("?noPayloadShorthand", "", "application/json+no-payload-shorthand"),
        ("?pretty&noPayloadShorthand", "", "application/json+pretty+no-payload-shorthand"),
        ("", "application/json+pretty", "application/json+pretty"),
    ],
)
def test_the_answer_has_the_form_that_was_asked_for(query, accept, content_type):
    call = called("POST", WORKFLOW + query, b"", {"accept": accept})
    response = call.answer(StartWorkflowExecutionResponse(run_id="r", started=True))
    pretty = b'{\n  "runId": "r",\n  "started": true\n}'
    assert response.status == 200
    assert response.content_type == content_type
    assert response.body == (pretty if "pretty" in content_type else b'{"runId":"r","started":true}')


def test_an_error_is_the_json_of_its_status():
    response = called("GET", WORKFLOW).refuse(NamespaceNotFound("shop"))
    assert response.status == 404
    assert json.loads(response.body) == {
        "code": 5,
        "message": "Namespace shop is not found.",
        "details": [
            {
                "@type": "type.googleapis.com/temporal.api.errordetails.v1.NamespaceNotFoundFailure",
                "namespace": "shop",
            }
        ],
    }


@pytest.mark.parametrize("text, seconds", [("3S", 3.0), ("250m", 0.25), ("1H", 3600.0), ("2M", 120.0)])
def test_a_timeout_is_read_as_grpc_writes_it(text, seconds):
    assert called("GET", WORKFLOW, b"", {"grpc-timeout": text}).timeout_seconds == seconds


def test_a_timeout_that_is_none_is_refused():
    assert refused("GET", WORKFLOW, b"", {"grpc-timeout": "foo"}) == (
        400,
        {"code": 3, "message": "invalid grpc-timeout: foo"},
    )


def test_headers_reach_the_call_by_their_grpc_names():
    headers = {"grpc-metadata-client-name": "curl", "x-other": "1"}
    assert called("GET", WORKFLOW, b"", headers).headers == {"client-name": "curl", "x-other": "1"}
