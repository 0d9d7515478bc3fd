"""An error comes through the bridge as the service raised it: code, message and details, byte for byte."""

import inspect
from typing import Any

import grpc
import pytest
from google.rpc.status_pb2 import Status
from temporalio.api.failure.v1 import Failure

from durable_core.model.errors import Code, NotFound, ServiceError, Unavailable
from durable_core.model.ids import RunKey
from durable_core.services import unit_of_work
from durable_core.wire.errors import CONNECT_CODES, RequestTooLarge, connect_error, status_details
from perdure.bridge.errors import CODES, failure_of


def _classes(root: type[ServiceError]) -> list[type[ServiceError]]:
    return [root, *(each for child in root.__subclasses__() for each in _classes(child))]


def _example(kind: type[ServiceError]) -> ServiceError:
    """An instance whose every field says its own name, or holds something that is not nothing."""
    given: dict[str, Any] = {}
    for name, parameter in inspect.signature(kind).parameters.items():
        text = str(parameter.annotation)
        if "Failure" in text:
            given[name] = Failure(message="why")
        elif "ValueType" in text:
            given[name] = 1
        elif "RunKey" in text:
            given[name] = RunKey("namespace", "workflow", "run")
        elif "Sequence" in text:
            given[name] = [NotFound("first"), Unavailable("second")]
        elif "Message" not in text:
            given[name] = 7 if parameter.annotation is int else f"{name}: ü 漢"
    return kind(**given)


# An error counts once its module is loaded, and this one has an error of its own.
assert unit_of_work.RunNotFound in _classes(ServiceError)
KINDS = [kind for kind in _classes(ServiceError) if kind.__module__.startswith("durable_core.")]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_that_services_raise_comes_back_as_it_was(kind):
    error = _example(kind)
    failure = failure_of(*connect_error(error))
    assert failure.code.value[0] == error.code
    assert failure.message == error.message
    assert failure.details == status_details(error)
    assert failure.gateway_status is None


def test_typed_details_are_among_what_comes_back():
    assert sum(status_details(_example(kind)) is not None for kind in KINDS) >= 8
    assert RequestTooLarge in KINDS


@pytest.mark.parametrize("code", Code)
def test_every_code_of_the_services_has_its_name(code):
    assert CODES[CONNECT_CODES[code][0]].value[0] == code


def test_every_status_of_grpc_has_a_name():
    assert set(CODES.values()) == set(grpc.StatusCode) - {grpc.StatusCode.OK}


@pytest.mark.parametrize(
    "status, body, code, message",
    [
        (403, b'{"message":"Forbidden"}', "PERMISSION_DENIED", "the endpoint answered 403: Forbidden"),
        (401, b'{"Message":"No token"}', "UNAUTHENTICATED", "the endpoint answered 401: No token"),
        (404, b'{"message":"Not Found"}', "UNIMPLEMENTED", "the endpoint answered 404: Not Found"),
        (
            429,
            b'{"message":"Too Many Requests"}',
            "UNAVAILABLE",
            "the endpoint answered 429: Too Many Requests",
        ),
        (503, b'{"message":"Service Unavailable"}', "UNAVAILABLE", "503: Service Unavailable"),
        (504, b"", "UNAVAILABLE", "the endpoint answered 504: "),
        (502, b"<html>bad gateway</html>", "UNAVAILABLE", "<html>bad gateway</html>"),
        (400, b"[]", "INTERNAL", "400"),
        (418, b"\xff", "UNKNOWN", "418"),
        (500, b'{"code":"strange","message":"x"}', "UNKNOWN", "500: x"),
    ],
)
def test_what_a_gateway_answers_is_told_by_its_http_status(status, body, code, message):
    failure = failure_of(status, body)
    assert failure.code.name == code
    assert message in failure.message
    assert failure.details is None
    assert failure.gateway_status == status


def test_a_long_page_is_quoted_in_part_only():
    assert len(failure_of(502, b"x" * 10_000).message) < 400


def test_a_detail_that_is_not_base64_is_left_out_and_the_others_stay():
    body = b'{"code":"aborted","message":"m","details":[{"type":"a.B","value":"!"},{"type":"c.D","value":"AQ=="}, 3]}'
    failure = failure_of(409, body)
    assert failure.code is grpc.StatusCode.ABORTED
    status = Status.FromString(failure.details)
    assert [(detail.type_url, detail.value) for detail in status.details] == [
        ("type.googleapis.com/c.D", b"\x01")
    ]
