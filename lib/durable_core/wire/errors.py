"""Errors on the wire: one `ServiceError`, three protocols' ways to say it.

What does not live here: which error a rule raises, and its message (that is where the rule is known).
A newcomer's trap: a gRPC caller reads code and message from the trailers but the typed detail only from the binary
status; SDKs decide by the detail (an already started workflow, an unknown namespace), so no protocol may drop it.
"""

import base64
import json
from typing import Any

from google.rpc.status_pb2 import Status

from durable_core.model.errors import Code, ServiceError

# From the Connect protocol's specification, "Error Codes".
CONNECT_CODES: dict[Code, tuple[str, int]] = {
    Code.CANCELLED: ("canceled", 499),
    Code.INVALID_ARGUMENT: ("invalid_argument", 400),
    Code.DEADLINE_EXCEEDED: ("deadline_exceeded", 504),
    Code.NOT_FOUND: ("not_found", 404),
    Code.ALREADY_EXISTS: ("already_exists", 409),
    Code.PERMISSION_DENIED: ("permission_denied", 403),
    Code.RESOURCE_EXHAUSTED: ("resource_exhausted", 429),
    Code.FAILED_PRECONDITION: ("failed_precondition", 400),
    Code.ABORTED: ("aborted", 409),
    Code.ABORTED: ("aborted", 409),
    Code.UNIMPLEMENTED: ("unimplemented", 501),
    Code.INTERNAL: ("internal", 500),
    Code.UNAVAILABLE: ("unavailable", 503),
}

# The HTTP statuses of the Temporal HTTP API are those of grpc-gateway, which the Temporal server uses.
HTTP_STATUSES: dict[Code, int] = {
    Code.CANCELLED: 499,
    Code.INVALID_ARGUMENT: 400,
    Code.DEADLINE_EXCEEDED: 504,
    Code.NOT_FOUND: 404,
    Code.ALREADY_EXISTS: 409,
    Code.PERMISSION_DENIED: 403,
    Code.RESOURCE_EXHAUSTED: 429,
    Code.FAILED_PRECONDITION: 400,
    Code.ABORTED: 409,
    Code.ABORTED: 409,
    Code.UNIMPLEMENTED: 501,
    Code.INTERNAL: 500,
    Code.UNAVAILABLE: 503,
}


class RequestTooLarge(ServiceError):
    """A message is larger than the edge accepts."""

    code = Code.RESOURCE_EXHAUSTED

    def __init__(self, bytes_max: int) -> None:
        super().__init__(f"the request is larger than {bytes_max} bytes")


def status_of(error: ServiceError) -> Status:
    """The error as a `google.rpc.Status`, its detail as an `Any`."""
    status = Status(code=int(error.code), message=error.message)
    if error.detail is not None:
        status.details.add().Pack(error.detail)
    return status


def status_details(error: ServiceError) -> bytes | None:
    """What goes into the `grpc-status-details-bin` trailer, or None for an error without a detail."""
    return status_of(error).SerializeToString() if error.detail is not None else None


def connect_error(error: ServiceError) -> tuple[int, bytes]:
    """HTTP status and JSON body of the error in the Connect protocol."""
    name, http_status = CONNECT_CODES[error.code]
    body: dict[str, Any] = {"code": name, "message": error.message}
    if error.detail is not None:
        value = base64.b64encode(error.detail.SerializeToString()).decode().rstrip("=")
        body["details"] = [{"type": error.detail.DESCRIPTOR.full_name, "value": value}]
    return http_status, json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
