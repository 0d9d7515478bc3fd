"""HTTP/2 for a gRPC server, without I/O: bytes in, events out, and the bytes to send.

The gRPC library for Python costs about a quarter of a millisecond of processor time a call, most of it in handing the call
from its threads to the event loop and back. A call to the embedded server is often cheaper than that. This package
does what a gRPC server needs of RFC 9113 and RFC 7541, in the event loop's thread, and nothing else of them: no
server push, no priorities, no upgrade from HTTP/1.
"""
