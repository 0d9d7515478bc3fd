"""API Gateway's events and responses, and the calls between them.

What does not live here: routes and codecs (`durable_core.wire`), and waiting (`durable_core.adapters.aws.answering`).
A newcomer's trap: API Gateway gives up after 30 s and Lambda refuses a response of more than 6 MB, and both tell the
caller nothing useful. So we answer earlier, and refuse in words what is too large.
"""

import base64
import gzip
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2
from aws_lambda_powertools.utilities.typing import LambdaContext
from temporalio.api.enums.v1 import ResourceExhaustedCause

from durable_core.adapters.aws.answering import Limits
from durable_core.model.errors import ResourceExhausted, ServiceError
from durable_core.model.times import MILLISECOND, SECOND
from durable_core.ports.clock import Clock
from durable_core.wire.http import HttpCall, HttpRequest, HttpResponse
from durable_core.wire.router import Router
from functions.observing import Observing

ANSWER_WITHIN = 25 * SECOND
"""From the request's arrival at API Gateway, which gives up after 30 s."""
LAMBDA_MARGIN = 2 * SECOND
PATIENCE = 60 * SECOND
"""How long a caller is taken to wait that did not say."""
RESPONSE_BYTES_MAX = 4_400_000
"""What fits into Lambda's 6 MB once it is in base64."""
COMPRESSED_FROM_BYTES = 64 * 1024
UNRESERVED_IN_PATHS = "/:@!$&'()*+,;=~"

Run = Callable[[HttpCall, Limits], tuple[Any, Mapping[str, str]]]
"""Runs a call: its answer, and headers to send with it. Raises `ServiceError`."""


class ApiGateway:
    """The HTTP edge of one function. `happened` counts what happened since it was last asked."""

    def __init__(
        self,
        router: Router,
        clock: Clock,
        run: Run,
        observing: Observing,
        happened: Callable[[], Mapping[str, int]],
    ) -> None:
        self._router = router
        self._clock = clock
        self._happened = happened
        self._run = run
        self._observing = observing

    def answer(self, event: APIGatewayProxyEventV2, context: LambdaContext) -> dict[str, Any]:
        began = self._clock.now()
        request = request_of(event)
        routed = self._router.route(request)
        counts: dict[str, int] = {}
        if isinstance(routed, HttpCall):
            name = routed.method.name
            response = self._respond(routed, self._until(event, context, routed), counts)
        else:
            name, response = f"{request.method} {request.path}", routed
        took = (self._clock.now() - began) // MILLISECOND
        self._observing.logger.info(name, extra={"status": response.status, "ms": took})
        self._observing.count({**counts, **self._happened()})
        return _sent(response, request.headers)

    def _respond(self, call: HttpCall, until: Limits, counts: dict[str, int]) -> HttpResponse:
        try:
            answer, headers = self._run(call, until)
            counts["WorkflowsStarted"] = int(getattr(answer, "started", False))
            response = call.answer(answer)
            if len(response.body) > RESPONSE_BYTES_MAX and not _takes_gzip(call.headers):
                raise _too_large(len(response.body))
        except ServiceError as error:
            return call.refuse(error)
        return HttpResponse(
            response.status, response.content_type, response.body, {**(response.headers or {}), **headers}
        )

    def _until(self, event: APIGatewayProxyEventV2, context: LambdaContext, call: HttpCall) -> Limits:
        now = self._clock.now()
        arrived = min(now, event.request_context.time_epoch * MILLISECOND)
        lambda_ends = now + context.get_remaining_time_in_millis() * MILLISECOND
        patience = PATIENCE if call.timeout_seconds is None else int(call.timeout_seconds * SECOND)
        return Limits(now + patience, min(arrived + ANSWER_WITHIN, lambda_ends - LAMBDA_MARGIN))


def request_of(event: APIGatewayProxyEventV2) -> HttpRequest:
    body = event.body or ""
    return HttpRequest(
        method=event.http_method,
        path=_raw(event.path),
        query=event.raw_query_string,
        headers={name.lower(): value for name, value in event.headers.items()},
        body=base64.b64decode(body) if event.is_base64_encoded else body.encode(),
    )


def _raw(path: str) -> str:
    """The path as it was sent. One that holds what no sent path can hold was decoded on its way."""
    if path.isascii() and path.isprintable() and " " not in path:
        return path
    return quote(path, safe=UNRESERVED_IN_PATHS)


def _sent(response: HttpResponse, asked: Mapping[str, str]) -> dict[str, Any]:
    headers = {"content-type": response.content_type, **(response.headers or {})}
    body = response.body
    if len(body) >= COMPRESSED_FROM_BYTES and _takes_gzip(asked):
        body = gzip.compress(body, compresslevel=1, mtime=0)
        headers["content-encoding"] = "gzip"
    return {
        "statusCode": response.status,
        "headers": headers,
        "body": base64.b64encode(body).decode(),
        "isBase64Encoded": True,
    }


def _takes_gzip(headers: Mapping[str, str]) -> bool:
    return "gzip" in headers.get("accept-encoding", "")


def _too_large(size: int) -> ResourceExhausted:
    return ResourceExhausted(
        f"the answer has {size} bytes, and at most {RESPONSE_BYTES_MAX} fit; ask for a smaller page or accept gzip",
        ResourceExhaustedCause.RESOURCE_EXHAUSTED_CAUSE_SYSTEM_OVERLOADED,
    )
