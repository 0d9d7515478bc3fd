"""A system of a few functions, served by the real embedded edge on free ports.

What lives here: the functions, which show what the edge does to them, and the server around them. What does not: an
assertion. A newcomer's mistake: to wait by sleeping; every wait in these tests is for a topic, a task or an answer.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    DescribeNamespaceResponse,
    GetSystemInfoResponse,
    PollWorkflowTaskQueueRequest,
    PollWorkflowTaskQueueResponse,
)

from durable_core.adapters.system import SystemClock
from durable_core.model.errors import NamespaceNotFound
from durable_core.model.ids import QueueKey, QueueKind
from durable_core.services.calls import Call, Rpc, Wait
from durable_core.wire.methods import WORKFLOW_SERVICE_NAME, MethodTable
from perdure.dev.notifications import InProcessNotifications
from perdure.dev.server import Server, ServerOptions

OPTIONS = ServerOptions("127.0.0.1", 0, 0, None, ("default",), "warning")


def queue(name: str) -> QueueKey:
    return QueueKey("ns", name, QueueKind.WORKFLOW)


async def until(condition: Callable[[], object]) -> None:
    """Let the event loop run until the condition holds; for what the edge does without telling anybody."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.0005)


@dataclass
class TinySystem:
    """Queues of words instead of tasks. `tried` and `abandoned` tell what the edge asked of the poll."""

    clock: SystemClock = field(default_factory=SystemClock)
    words: dict[str, list[bytes]] = field(default_factory=dict)
    tried: list[Call] = field(default_factory=list)
    abandoned: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)
    wait_seconds: float = 30.0
    due: int | None = None
    fire: Callable[[], None] = lambda: None
    service_tasks: list[str] = field(default_factory=list)
    flushed: bool = False
    closed: bool = False

    @property
    def context(self) -> "TinySystem":
        return self

    def next_due(self) -> int | None:
        return self.due

    def fire_due(self) -> None:
        if self.due is not None and self.due <= self.clock.now():
            self.fire()

    def run_service_task(self) -> bool:
        return bool(self.service_tasks and self.service_tasks.pop())

    def flush(self) -> None:
        self.flushed = True

    def close(self) -> None:
        self.closed = True


def describe_namespace(system: TinySystem, request: DescribeNamespaceRequest) -> DescribeNamespaceResponse:
    if request.namespace == "broken":
        raise ZeroDivisionError("a defect")
    if request.namespace != "default":
        raise NamespaceNotFound(request.namespace)
    answer = DescribeNamespaceResponse()
    answer.namespace_info.name = request.namespace
    return answer


def get_system_info(system: TinySystem, request: Any) -> GetSystemInfoResponse:
    return GetSystemInfoResponse(server_version="tiny")


def poll(
    system: TinySystem, request: PollWorkflowTaskQueueRequest, call: Call
) -> PollWorkflowTaskQueueResponse | Wait:
    system.tried.append(call)
    name = request.task_queue.name
    if words := system.words.get(name):
        return PollWorkflowTaskQueueResponse(task_token=words.pop(0))
    if call.last:
        return PollWorkflowTaskQueueResponse()
    return Wait((queue(name),), system.wait_seconds, resume=(call.resume or 0) + 1)


def abandon(system: TinySystem, request: PollWorkflowTaskQueueRequest, resume: Any) -> None:
    system.abandoned.put_nowait((request.task_queue.name, resume))


POLL = Rpc(poll, waits=True, abandon=abandon)


def tiny_table() -> MethodTable:
    return MethodTable(
        {
            WORKFLOW_SERVICE_NAME: {
                "DescribeNamespace": Rpc(describe_namespace),
                "GetSystemInfo": Rpc(get_system_info),
                "PollWorkflowTaskQueue": POLL,
                # Annotated with an HTTP route, and it waits.
                "GetWorkflowExecutionHistory": Rpc(_never, waits=True, abandon=_left),
            }
        }
    )


def _never(system: TinySystem, request: Any, call: Call) -> Wait:
    system.tried.append(call)
    return Wait((queue(request.execution.workflow_id),), system.wait_seconds, resume="waiting")


def _left(system: TinySystem, request: Any, resume: Any) -> None:
    system.abandoned.put_nowait((request.execution.workflow_id, resume))


@dataclass
class Running:
    system: TinySystem
    notifications: InProcessNotifications
    server: Server

    async def until_waiting(self, name: str, count: int = 1) -> None:
        """Until so many polls wait for the queue."""
        await until(lambda: self.notifications.waiting(queue(name)) >= count)

    def send(self, name: str, word: bytes) -> None:
        self.system.words.setdefault(name, []).append(word)
        self.notifications.publish(queue(name))


@asynccontextmanager
async def running() -> AsyncIterator[Running]:
    """A server on free ports, drained at the end."""
    system, notifications = TinySystem(), InProcessNotifications()
    server = Server(OPTIONS, system, tiny_table(), notifications)
    await server.start()
    try:
        yield Running(system, notifications, server)
    finally:
        if not system.closed:
            await server.drain()
