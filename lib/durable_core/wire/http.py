"""Values that HTTP edges and the transcoders exchange: a request, a response, and a decoded call.

What does not live here: any protocol. A newcomer's trap: `path` and `query` are raw, still percent-encoded; a workflow
ID may hold a slash, which is told from a path's slash only before decoding.
"""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message

from durable_core.model.errors import ServiceError
from durable_core.wire.methods import Method

# What the Temporal frontend accepts on its HTTP port and, by the default of its gRPC library, on the other one too.
REQUEST_BYTES_MAX = 4 * 1024 * 1024

GZIP_WINDOW = 16 + zlib.MAX_WBITS


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """`headers` have lower-case names. The scheme, host and peer play no part."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpResponse:
    status: int
    content_type: str
    body: bytes
    headers: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class HttpCall:
    """A decoded call. Whoever runs it gives its response to `answer`, or its error to `refuse`.

    `timeout_seconds` is what the caller asked for, None when it did not say.
    """

    method: Method
    request: Any
    timeout_seconds: float | None
    headers: Mapping[str, str]
    answer: Callable[[Message], HttpResponse]
    refuse: Callable[[ServiceError], HttpResponse]


def gunzip(data: bytes, bytes_max: int) -> bytes | None:
    """The decompressed data, or None when it would be larger than `bytes_max`. Raises `zlib.error` on bad data."""
    inflate = zlib.decompressobj(GZIP_WINDOW)
    plain = inflate.decompress(data, bytes_max + 1)
    if len(plain) > bytes_max:
        return None
    if not inflate.eof:
        raise zlib.error("the data ends early")
    return plain


def media_type(headers: Mapping[str, str]) -> str:
    """The content type without its parameters, in lower case."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()
