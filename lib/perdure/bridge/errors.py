"""From an HTTP answer that is an error to the gRPC status that the caller would have seen without a bridge.

What does not live here: the other direction, from a service's error to Connect (`durable_core.wire.errors`).
A newcomer's trap: what stands between us and the service (API Gateway, a proxy, an authorizer) answers in formats of
its own. Only a body with a known Connect code came from the service; anything else is translated by its HTTP status.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

import grpc
from google.rpc.status_pb2 import Status

TYPE_URL_PREFIX = "type.googleapis.com/"
QUOTED_CHARACTERS_MAX = 300

# Connect spells gRPC's codes in lower case, and one of them in American English.
CODES: Mapping[str, grpc.StatusCode] = {
    "canceled" if code is grpc.StatusCode.CANCELLED else code.name.lower(): code
    for code in grpc.StatusCode
    if code is not grpc.StatusCode.OK
}

# From the Connect protocol's specification, "HTTP to Error Code".
_BY_HTTP_STATUS: Mapping[int, grpc.StatusCode] = {
    400: grpc.StatusCode.INTERNAL,
    401: grpc.StatusCode.UNAUTHENTICATED,
    403: grpc.StatusCode.PERMISSION_DENIED,
    404: grpc.StatusCode.UNIMPLEMENTED,
    429: grpc.StatusCode.UNAVAILABLE,
    502: grpc.StatusCode.UNAVAILABLE,
    503: grpc.StatusCode.UNAVAILABLE,
    504: grpc.StatusCode.UNAVAILABLE,
}


class CallFailed(Exception):
    """A call that has no answer but a status. `details` is a serialized `google.rpc.Status`, for a status with details.

    `gateway_status` is the HTTP status when it was not the service that answered, None when it was.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        message: str,
        details: bytes | None = None,
        gateway_status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details
        self.gateway_status = gateway_status


def failure_of(http_status: int, body: bytes) -> CallFailed:
    """What an answer other than 200 means."""
    tree = _object(body)
    code = CODES.get(str(tree.get("code")))
    if code is not None:
        message = str(tree.get("message", ""))
        return CallFailed(code, message, _status(code, message, tree.get("details")))
    code = _BY_HTTP_STATUS.get(http_status, grpc.StatusCode.UNKNOWN)
    said = tree.get("message") or tree.get("Message") or body.decode("utf-8", "replace").strip()
    message = f"the endpoint answered {http_status}: {str(said)[:QUOTED_CHARACTERS_MAX]}"
    return CallFailed(code, message, gateway_status=http_status)


def _object(body: bytes) -> dict[str, Any]:
    try:
        tree = json.loads(body)
    except ValueError:
        return {}
    return tree if isinstance(tree, dict) else {}


def _status(code: grpc.StatusCode, message: str, details: object) -> bytes | None:
    if not isinstance(details, list) or not details:
        return None
    status = Status(code=code.value[0], message=message)
    for detail in details:
        if isinstance(detail, dict) and "type" in detail:
            value = _unpadded(str(detail.get("value", "")))
            if value is not None:
                status.details.add(type_url=TYPE_URL_PREFIX + str(detail["type"]), value=value)
    return status.SerializeToString() if status.details else None


def _unpadded(text: str) -> bytes | None:
    """Base64 without its padding, as Connect writes it; with it is fine, too. None for what is not base64."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        return None
