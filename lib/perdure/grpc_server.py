"""What the gRPC servers of the programs have in common: how they treat connections, and how they bind.

What does not live here: methods and their handlers. A newcomer's trap: the size limit is checked by the handlers and
not by the gRPC library, since workers recognise a message that is too large by the words of the Go implementation, and
then fail their task instead of repeating the call for ever.
"""

from typing import Any

from perdure.listening import address_of, listen

_TRANSPORT_BYTES_MAX = 128 * 1024 * 1024

OPTIONS: list[tuple[str, int]] = [
    ("grpc.max_receive_message_length", _TRANSPORT_BYTES_MAX),
    ("grpc.max_send_message_length", -1),
    # Two servers on one port would share its calls silently.
    ("grpc.so_reuseport", 0),
    # Clients ping every 30 s, or every 10 s, also while no call is open; the library would hang up on them.
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
    ("grpc.http2.max_ping_strikes", 0),
]


def bind(server: Any, ip: str, port: int) -> int:
    """Take the port, 0 for any free one; the port that was bound. OSError when it is taken."""
    # Tried with a socket of our own first: the gRPC library says on stderr what it cannot have, in words of its own.
    listen(ip, port, "--port").close()
    address = address_of(ip, port)
    try:
        bound: int = server.add_insecure_port(address)
    except RuntimeError as error:
        raise OSError(f"cannot listen on {address}: {error}") from error
    return bound


def too_large(size: int, bytes_max: int) -> str:
    """What the Go implementation says of a message above its limit."""
    return f"grpc: received message larger than max ({size} vs. {bytes_max})"
