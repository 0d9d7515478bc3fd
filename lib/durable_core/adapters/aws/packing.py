"""Values as bytes: a format, whether they are compressed, and then msgpack.

A newcomer's trap: two versions of the code run side by side during every deployment. Newer formats are refused with
`NewerFormat`, which is worth trying again elsewhere, and never rewritten.
"""

import zlib
from typing import Any

import msgspec

from durable_core.model.errors import Unavailable

FORMAT = 1
PLAIN = bytes((FORMAT, 0))
COMPRESSED = bytes((FORMAT, 1))
COMPRESS_FROM = 128
"""Bytes below which compressing saves nothing worth its time."""
LEVEL = 6

_encode = msgspec.msgpack.Encoder().encode


class NewerFormat(Unavailable):
    """Newer code wrote this."""


def packed(value: Any) -> bytes:
    plain = _encode(value)
    if len(plain) >= COMPRESS_FROM:
        small = zlib.compress(plain, LEVEL)
        if len(small) < len(plain):
            return COMPRESSED + small
    return PLAIN + plain


def unpacked(data: bytes, decoder: "msgspec.msgpack.Decoder[Any]") -> Any:
    """Raises `NewerFormat`, and `ValueError` for what nobody packed."""
    if data[:1] != PLAIN[:1]:
        if data[:1] > PLAIN[:1]:
            raise NewerFormat(f"format {data[0]}, this code knows {FORMAT}")
        raise ValueError("no format that ever was")
    if data[1:2] == COMPRESSED[1:]:
        try:
            return decoder.decode(zlib.decompress(memoryview(data)[2:]))
        except zlib.error as error:
            raise ValueError(f"damaged: {error}") from error
    return decoder.decode(memoryview(data)[2:])
