"""Addresses that a program listens on: their names, and taking one with an error that says what to do.

What does not live here: what is served there. A newcomer's trap: an IPv6 address is written in brackets, and only then
does it go together with a port.
"""

import errno
import socket


def address_of(ip: str, port: int) -> str:
    """Both as one name, as people and gRPC write it."""
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"


def listen(ip: str, port: int, option: str) -> socket.socket:
    """A bound socket; OSError, with the option that takes another port, when it is taken."""
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ip, port))
    except OSError as error:
        listener.close()
        another = f"; {option} takes another port" if error.errno == errno.EADDRINUSE else ""
        raise OSError(f"cannot listen on {address_of(ip, port)}: {error.strerror}{another}") from error
    listener.setblocking(False)
    return listener
