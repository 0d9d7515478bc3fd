"""The Connect protocol for unary calls: `POST /{service}/{method}` with a protobuf or JSON body.

The rules are those of the protocol's specification (connectrpc.com/docs/protocol); the optional GET form and response
compression are not offered. What does not live here: the Temporal HTTP API, whose JSON is another dialect.
A newcomer's trap: an error's body is JSON whatever the request's codec was.
"""

import json
import zlib
from typing import Any

from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message

from durable_core.model.errors import InvalidArgument, ServiceError, Unimplemented
from durable_core.wire.errors import RequestTooLarge, connect_error
from durable_core.wire.http import REQUEST_BYTES_MAX, HttpCall, HttpRequest, HttpResponse, gunzip, media_type
from durable_core.wire.methods import Method, MethodTable

PROTO = "application/proto"
JSON = "application/json"
TIMEOUT_DIGITS_MAX = 10


def route(table: MethodTable, request: HttpRequest) -> HttpCall | HttpResponse:
    """The call that a request to `/{service}/{method}` makes, or the answer to one that makes none."""
    if request.method != "POST":
        return HttpResponse(405, JSON, b"", {"allow": "POST"})
    codec = media_type(request.headers)
    if codec not in (PROTO, JSON):
        return HttpResponse(415, JSON, b"", {"accept-post": f"{PROTO}, {JSON}"})
    try:
        _check_version(request)
        method = table.find(request.path)
        message = _decode(method, codec, _body(request))
        timeout_seconds = _timeout_seconds(request)
    except ServiceError as error:
        return _refuse(error)
    answer = _answer_proto if codec == PROTO else _answer_json
    return HttpCall(method, message, timeout_seconds, request.headers, answer, _refuse)


def _check_version(request: HttpRequest) -> None:
    version = request.headers.get("connect-protocol-version", "1")
    if version != "1":
        raise InvalidArgument(f'connect-protocol-version must be "1": got "{version}"')


def _timeout_seconds(request: HttpRequest) -> float | None:
    text = request.headers.get("connect-timeout-ms")
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= TIMEOUT_DIGITS_MAX):
        raise InvalidArgument(f'connect-timeout-ms must be a whole number of milliseconds: got "{text}"')
    return int(text) / 1000


def _body(request: HttpRequest) -> bytes:
    encoding = request.headers.get("content-encoding", "identity")
    body: bytes | None = request.body
    if encoding == "gzip":
        try:
            body = gunzip(request.body, REQUEST_BYTES_MAX)
        except zlib.error as error:
            raise InvalidArgument(f"the body is not gzip: {error}") from error
    elif encoding != "identity":
        raise Unimplemented(f'unknown compression "{encoding}": supported encodings are gzip and identity')
    if body is None or len(body) > REQUEST_BYTES_MAX:
        raise RequestTooLarge(REQUEST_BYTES_MAX)
    return body


def _decode(method: Method, codec: str, body: bytes) -> Any:
    try:
        if codec == PROTO:
            return method.request.FromString(body)
        return json_format.Parse(body or b"{}", method.request(), ignore_unknown_fields=True)
    except (DecodeError, json_format.ParseError, UnicodeDecodeError) as error:
        raise InvalidArgument(f"the body is not a {method.descriptor.input_type.name}: {error}") from error


def _answer_proto(message: Message) -> HttpResponse:
    return HttpResponse(200, PROTO, message.SerializeToString())


def _answer_json(message: Message) -> HttpResponse:
    tree = json_format.MessageToDict(message)
    text = json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
    return HttpResponse(200, JSON, text.encode())


def _refuse(error: ServiceError) -> HttpResponse:
    status, body = connect_error(error)
    return HttpResponse(status, JSON, body)
