"""`perdure dev`: put the parts together, serve until a signal comes, and drain.

What does not live here: the edges, the loops and the engine; this module only starts and stops them in the right order.
A newcomer's trap: the order of the end. First nothing new comes in, then waiting polls answer empty and calls under way
finish, then the loops stop, and only then the database closes.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from durable_core.ports.clock import Clock
from durable_core.wire.methods import MethodTable
from durable_core.wire.router import Router
from perdure.dev.answering import Answering
from perdure.dev.grpc_edge import GrpcEdge
from perdure.dev.http_edge import HttpEdge
from perdure.dev.loops import Engine, Loops
from perdure.dev.notifications import InProcessNotifications
from perdure.listening import address_of

DRAIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """`port` and `http_port` 0 take any free port. Without a `database` file the data ends with the process."""

    ip: str
    port: int
    http_port: int
    database: Path | None
    namespaces: tuple[str, ...]
    log_level: str
    spread: bool = False


class System(Engine, Protocol):
    """What is served: the engine with its services and its database."""

    @property
    def context(self) -> Any:
        """The first argument of every service function."""

    @property
    def clock(self) -> Clock: ...

    def close(self) -> None:
        """Close the database; nothing is called any more."""


class Server:
    """A running embedded server: `start` it in an event loop, `drain` it in the same one.

    The ports are the bound ones after `start`, which raises OSError when one of them is taken.
    """

    def __init__(
        self,
        options: ServerOptions,
        system: System,
        table: MethodTable,
        notifications: InProcessNotifications,
    ) -> None:
        self.options = options
        self.port = options.port
        self.http_port = options.http_port
        self._system = system
        self.loops = Loops(system, notifications, system.clock)
        self._answering = Answering(system.context, notifications, system.clock, self.loops.look)
        self._grpc = GrpcEdge(table, self._answering)
        self._http = HttpEdge(Router(table), self._answering)

    async def start(self) -> None:
        self.http_port = await self._http.start(self.options.ip, self.options.http_port)
        self.port = await self._grpc.start(self.options.ip, self.options.port)
        self.loops.start()

    async def drain(self) -> None:
        """Stop taking calls, let waiting ones answer empty and running ones finish, then close everything."""
        stopping = asyncio.gather(self._grpc.stop(DRAIN_SECONDS), self._http.stop(DRAIN_SECONDS))
        # The edges refuse new calls from their next step on; what waits by then is told to answer.
        await asyncio.sleep(0)
        self._answering.drain()
        await stopping
        await self.loops.stop()
        self._system.close()

    def announcement(self) -> list[str]:
        """What a person wants to know at start, a line each."""
        ip = self.options.ip
        kept = (
            f"in {self.options.database}: it survives this server"
            if self.options.database
            else "in memory: it ends with this server (--db FILE keeps it)"
        )
        return [
            f"gRPC        {address_of(ip, self.port)}",
            f"HTTP        http://{address_of(ip, self.http_port)}  (Connect and the Temporal HTTP API)",
            f"Namespaces  {', '.join(self.options.namespaces)}",
            f"Data        {kept}",
        ]
