"""What a call carries besides its message: metadata becomes HTTP headers, a deadline becomes Connect-Timeout-Ms.

What does not live here: the headers of authorization (`authorization`).
A newcomer's trap: a call without a deadline has, by gRPC's Python library, some 292 years left. Added to a clock or
passed on as a time-out it overflows, so it counts as none.
"""

import base64
from collections.abc import Iterable

PROTO = "application/proto"
# A caller's patience beyond this is as good as endless. It also fits the ten digits that Connect allows.
PATIENCE_SECONDS_MAX = 100 * 24 * 3600.0

_PROTOCOL = {"connect-protocol-version": "1", "content-type": PROTO, "accept-encoding": "gzip"}
# Headers that belong to one connection, to gRPC's own framing, or to us.
_NOT_FORWARDED = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
    }
)
_NOT_FORWARDED_PREFIXES = (":", "grpc-", "connect-", "perdure-", "x-amz-")


def headers_of(metadata: Iterable[tuple[str, str | bytes]], *, with_authorization: bool) -> dict[str, str]:
    """The HTTP headers of a call with this metadata. `with_authorization`: the caller's own is passed on."""
    headers = dict(_PROTOCOL)
    for name, value in metadata:
        if name in _NOT_FORWARDED or name.startswith(_NOT_FORWARDED_PREFIXES):
            continue
        if name == "authorization" and not with_authorization:
            continue
        text = value if isinstance(value, str) else _binary(value)
        headers[name] = f"{headers[name]}, {text}" if name in headers else text
    return headers


def _binary(value: bytes) -> str:
    """As Connect and gRPC write the value of a header that ends in -bin."""
    return base64.b64encode(value).decode().rstrip("=")


def patience(seconds_left: float | None) -> float | None:
    """The caller's patience in seconds, None when it has no deadline."""
    if seconds_left is None or seconds_left > PATIENCE_SECONDS_MAX:
        return None
    return max(0.0, seconds_left)


def timeout_header(seconds: float | None) -> dict[str, str]:
    """The Connect header that tells the service when its caller gives up. Zero would mean never, so it is 1."""
    return {} if seconds is None else {"connect-timeout-ms": str(max(1, int(seconds * 1000)))}
