"""The Temporal HTTP API: JSON over the routes of `http_routes`, as the Temporal server serves it on its HTTP port.

What does not live here: the routes, the JSON dialect (`payload_json`) and the binding of words (`field_binding`).
`?pretty` and `?noPayloadShorthand`, or an `Accept` of `application/json+pretty+no-payload-shorthand` and its parts,
change the answer's form; a `Content-Type` with `no-payload-shorthand` says that the body has none. The Temporal server
answers plain JSON with the content type `*`; we say `application/json`, which every client reads.
A newcomer's trap: with a body there is no query binding, and what the path binds wins over the body.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from google.protobuf import json_format
from google.protobuf.message import Message

from durable_core.model.errors import InvalidArgument, ServiceError
from durable_core.wire.errors import HTTP_STATUSES, RequestTooLarge, status_of
from durable_core.wire.field_binding import bind, canonical
from durable_core.wire.http import REQUEST_BYTES_MAX, HttpCall, HttpRequest, HttpResponse, gunzip
from durable_core.wire.http_routes import Match, Routes
from durable_core.wire.methods import unimplemented
from durable_core.wire.payload_json import from_json, to_json

JSON = "application/json"
PRETTY = "pretty"
NO_SHORTHAND = "no-payload-shorthand"
METADATA_PREFIX = "grpc-metadata-"

# Units of the Grpc-Timeout header, in seconds.
_TIMEOUT_UNITS = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}


@dataclass(frozen=True, slots=True)
class Form:
    """How an answer's JSON is to look."""

    pretty: bool
    shorthand: bool

    @property
    def content_type(self) -> str:
        pretty = f"+{PRETTY}" if self.pretty else ""
        return f"{JSON}{pretty}{'' if self.shorthand else '+' + NO_SHORTHAND}"

    def answer(self, message: Message) -> HttpResponse:
        return self.response(200, to_json(message, shorthand=self.shorthand))

    def refuse(self, error: ServiceError) -> HttpResponse:
        """The error as the JSON of its `google.rpc.Status`."""
        tree = to_json(status_of(error), shorthand=False)
        if error.detail is not None:
            detail = to_json(error.detail, shorthand=self.shorthand)
            tree["details"] = [{"@type": tree["details"][0]["@type"], **detail}]
        return self.response(HTTP_STATUSES[error.code], tree)

    def response(self, status: int, tree: Any) -> HttpResponse:
        layout: dict[str, Any] = {"indent": 2} if self.pretty else {"separators": (",", ":")}
        return HttpResponse(
            status, self.content_type, json.dumps(tree, ensure_ascii=False, **layout).encode()
        )


def route(routes: Routes, request: HttpRequest) -> HttpCall | HttpResponse:
    """The call that a request makes, or the answer to one that makes none."""
    query = parse_qs(request.query, keep_blank_values=True)
    form = _form(query, request.headers)
    match = routes.find(request.method, request.path)
    if match is None:
        return _no_route(routes, request, form)
    try:
        method = match.route.method
        if method.rpc is None:
            raise unimplemented(method.path, method)
        message = _read(match, request, query)
        timeout_seconds = _timeout_seconds(request.headers)
    except ServiceError as error:
        return form.refuse(error)
    return HttpCall(method, message, timeout_seconds, _metadata(request.headers), form.answer, form.refuse)


def _no_route(routes: Routes, request: HttpRequest, form: Form) -> HttpResponse:
    if routes.knows(request.path):
        return form.response(501, {"code": 12, "message": "Method Not Allowed"})
    return form.response(404, {"code": 5, "message": "Not Found"})


def _form(query: Mapping[str, list[str]], headers: Mapping[str, str]) -> Form:
    suffixes: list[str] = []
    for accepted in headers.get("accept", "").split(","):
        kind, *rest = accepted.partition(";")[0].strip().lower().split("+")
        if kind == JSON:
            suffixes = rest
            break
    return Form(
        pretty=PRETTY in query or PRETTY in suffixes,
        shorthand="noPayloadShorthand" not in query and NO_SHORTHAND not in suffixes,
    )


def _read(match: Match, request: HttpRequest, query: Mapping[str, list[str]]) -> Message:
    message: Message = match.route.method.request()
    if match.route.has_body:
        _read_body(message, request)
    else:
        _read_query(message, query, bound=set(match.bindings))
    for path, value in match.bindings.items():
        bind(message, path, [value])
    return message


def _read_body(message: Message, request: HttpRequest) -> None:
    shorthand = NO_SHORTHAND not in request.headers.get("content-type", "")
    body = _plain_body(request)
    if not body:
        return
    try:
        from_json(json.loads(body), message, shorthand=shorthand)
    except (json_format.ParseError, ValueError) as error:
        # The reader goes on to list every field there is, after the first line.
        raise InvalidArgument(str(error).partition("\n")[0]) from error


def _plain_body(request: HttpRequest) -> bytes:
    body: bytes | None = request.body
    if request.headers.get("content-encoding") == "gzip":
        try:
            body = gunzip(request.body, REQUEST_BYTES_MAX)
        except zlib.error as error:
            raise InvalidArgument(f"the body is not gzip: {error}") from error
    if body is None or len(body) > REQUEST_BYTES_MAX:
        raise RequestTooLarge(REQUEST_BYTES_MAX)
    return body


def _read_query(message: Message, query: Mapping[str, list[str]], bound: set[str]) -> None:
    for name, values in query.items():
        path = canonical(message.DESCRIPTOR, name)
        if path is not None and path not in bound:
            bind(message, path, values)


def _timeout_seconds(headers: Mapping[str, str]) -> float | None:
    text = headers.get("grpc-timeout")
    if text is None:
        return None
    number, unit = text[:-1], text[-1:]
    if not (number.isascii() and number.isdecimal()) or unit not in _TIMEOUT_UNITS:
        raise InvalidArgument(f"invalid grpc-timeout: {text}")
    return int(number) * _TIMEOUT_UNITS[unit]


def _metadata(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers by the names that a gRPC caller would give them."""
    return {name.removeprefix(METADATA_PREFIX): value for name, value in headers.items()}
