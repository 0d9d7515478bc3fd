"""What the protocols share: the method table, the transcoding of Connect and of the Temporal HTTP API, error mapping.

Everything here is pure and synchronous, so that the embedded edge and a function of the cloud deployment use the very
same code. Sockets, event loops and waiting live in the programs that serve.
"""
