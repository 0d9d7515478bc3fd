"""Connect: decoding by both codecs, the headers, and errors with their details."""

import base64
import gzip
import json

import pytest
from temporalio.api.errordetails.v1 import NamespaceNotFoundFailure
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, DescribeNamespaceResponse

from durable_core.model.errors import Code, NamespaceNotFound, ServiceError
from durable_core.wire.errors import CONNECT_CODES, HTTP_STATUSES
from durable_core.wire.http import REQUEST_BYTES_MAX, HttpCall, HttpResponse
from durable_core.wire.router import Router
from tests.unit.wire.tables import SERVICE, http, small_table

PATH = f"/{SERVICE}/DescribeNamespace"
JSON = {"content-type": "application/json"}
PROTO = {"content-type": "application/proto"}
REQUEST = DescribeNamespaceRequest(namespace="shop")


def route(*arguments, **options):
    return Router(small_table()).route(http(*arguments, **options))


def error_of(response):
    assert isinstance(response, HttpResponse)
    assert response.content_type == "application/json"
    return response.status, json.loads(response.body)


@pytest.mark.parametrize(
    "headers, body",
    [
        (PROTO, REQUEST.SerializeToString()),
        (JSON, b'{"namespace": "shop"}'),
        ({"content-type": "Application/JSON; charset=utf-8"}, b'{"namespace": "shop", "unknown": 1}'),
        ({**PROTO, "content-encoding": "gzip"}, gzip.compress(REQUEST.SerializeToString(), mtime=0)),
        ({**PROTO, "content-encoding": "identity"}, REQUEST.SerializeToString()),
        ({**JSON, "connect-protocol-version": "1"}, b'{"namespace": "shop"}'),
    ],
)
def test_a_call_is_decoded_by_its_codec_and_encoding(headers, body):
    call = route("POST", PATH, body, headers)
    assert isinstance(call, HttpCall)
    assert call.method.name == "DescribeNamespace"
    assert call.request == REQUEST
    assert call.timeout_seconds is None


def test_an_empty_json_body_is_an_empty_message():
    call = route("POST", PATH, b"", JSON)
    assert call.request == DescribeNamespaceRequest()


def test_the_answer_has_the_codec_of_the_request():
    response = DescribeNamespaceResponse(is_global_namespace=True)
    as_proto = route("POST", PATH, b"", PROTO).answer(response)
    as_json = route("POST", PATH, b"{}", JSON).answer(response)
    assert (as_proto.status, as_proto.content_type) == (200, "application/proto")
    assert DescribeNamespaceResponse.FromString(as_proto.body) == response
    assert (as_json.status, as_json.content_type) == (200, "application/json")
    assert json.loads(as_json.body) == {"isGlobalNamespace": True}


def test_a_timeout_is_read_in_milliseconds():
    assert route("POST", PATH, b"", {**PROTO, "connect-timeout-ms": "2500"}).timeout_seconds == 2.5


@pytest.mark.parametrize(
    "headers, body, code",
    [
        ({**JSON, "connect-timeout-ms": "soon"}, b"{}", "invalid_argument"),
        ({**JSON, "connect-timeout-ms": "12345678901"}, b"{}", "invalid_argument"),
        ({**JSON, "connect-protocol-version": "2"}, b"{}", "invalid_argument"),
        (JSON, b"{", "invalid_argument"),
        (PROTO, b"\xff\xff", "invalid_argument"),
        ({**PROTO, "content-encoding": "gzip"}, b"not gzip", "invalid_argument"),
        ({**PROTO, "content-encoding": "gzip"}, gzip.compress(b"cut off", mtime=0)[:-9], "invalid_argument"),
        ({**PROTO, "content-encoding": "br"}, b"", "unimplemented"),
        (PROTO, b"x" * (REQUEST_BYTES_MAX + 1), "resource_exhausted"),
        (
            {**PROTO, "content-encoding": "gzip"},
            gzip.compress(b"0" * 9_000_000, mtime=0),
            "resource_exhausted",
        ),
    ],
)
def test_what_cannot_be_decoded_is_refused_with_a_code(headers, body, code):
    status, error = error_of(route("POST", PATH, body, headers))
    assert error["code"] == code
    assert error["message"]
    assert status == {"invalid_argument": 400, "unimplemented": 501, "resource_exhausted": 429}[code]


def test_other_verbs_and_media_types_are_refused_by_http():
    assert route("GET", PATH).status == 405
    assert route("POST", PATH, b"", {"content-type": "application/grpc"}).status == 415
    assert route("POST", PATH, b"").status == 415


def test_a_method_without_a_function_is_unimplemented():
    for path in ("/foo.Bar/Baz", f"/{SERVICE}/Nope", f"/{SERVICE}/PauseActivity"):
        status, error = error_of(route("POST", path, b"{}", JSON))
        assert (status, error["code"]) == (501, "unimplemented")


def test_an_error_carries_its_detail():
    status, error = error_of(route("POST", PATH, b"{}", JSON).refuse(NamespaceNotFound("shop")))
    [detail] = error.pop("details")
    assert status == 404
    assert error == {"code": "not_found", "message": "Namespace shop is not found."}
    assert detail["type"] == "temporal.api.errordetails.v1.NamespaceNotFoundFailure"
    value = base64.b64decode(detail["value"] + "=" * (-len(detail["value"]) % 4))
    assert NamespaceNotFoundFailure.FromString(value) == NamespaceNotFoundFailure(namespace="shop")
    assert not detail["value"].endswith("=")


@pytest.mark.parametrize("code", list(Code))
def test_every_code_has_a_name_and_statuses(code):
    error = ServiceError("x")
    error.code = code
    status, body = error_of(route("POST", PATH, b"{}", JSON).refuse(error))
    assert (body["code"], status) == CONNECT_CODES[code]
    assert HTTP_STATUSES[code] >= 400
