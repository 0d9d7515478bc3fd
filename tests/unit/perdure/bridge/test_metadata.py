"""Metadata and deadlines on their way to HTTP."""

import pytest

from perdure.bridge.metadata import PROTO, headers_of, patience, timeout_header


def forwarded(*metadata, with_authorization=False):
    own = headers_of((), with_authorization=False)
    headers = headers_of(metadata, with_authorization=with_authorization)
    return {name: value for name, value in headers.items() if name not in own}


def test_a_call_is_connect_with_protobuf():
    assert headers_of((), with_authorization=False) == {
        "connect-protocol-version": "1",
        "content-type": PROTO,
        "accept-encoding": "gzip",
    }


def test_what_clients_say_of_themselves_is_passed_on():
    said = {
        "client-name": "temporal-go",
        "supported-features": "follows-next-run-id",
        "temporal-namespace": "n",
    }
    assert forwarded(*said.items()) == said


@pytest.mark.parametrize(
    "name",
    [
        "te",
        "user-agent",
        "grpc-timeout",
        "grpc-accept-encoding",
        ":path",
        "host",
        "content-length",
        "connect-timeout-ms",
        "perdure-task",
        "x-amz-date",
        "transfer-encoding",
        "connection",
    ],
)
def test_what_belongs_to_a_connection_or_to_us_is_not_passed_on(name):
    assert forwarded((name, "x")) == {}


def test_binary_metadata_is_base64_without_padding():
    assert forwarded(("trace-bin", b"\x00\x01")) == {"trace-bin": "AAE"}


def test_metadata_given_twice_is_joined():
    assert forwarded(("a", "1"), ("a", "2")) == {"a": "1, 2"}


def test_a_callers_authorization_is_passed_on_only_when_we_have_none():
    assert forwarded(("authorization", "Bearer x")) == {}
    assert forwarded(("authorization", "Bearer x"), with_authorization=True) == {"authorization": "Bearer x"}


@pytest.mark.parametrize(
    "left, seconds", [(None, None), (9.2e18, None), (292 * 365 * 86_400.0, None), (5.0, 5.0), (-1.0, 0.0)]
)
def test_a_call_without_a_deadline_has_no_patience_to_pass_on(left, seconds):
    assert patience(left) == seconds


@pytest.mark.parametrize(
    "seconds, text", [(1.5, "1500"), (0.0, "1"), (0.0004, "1"), (8_640_000.0, "8640000000")]
)
def test_the_deadline_is_in_milliseconds_of_at_most_ten_digits(seconds, text):
    assert timeout_header(seconds) == {"connect-timeout-ms": text}


def test_without_a_deadline_there_is_no_header():
    assert timeout_header(None) == {}
