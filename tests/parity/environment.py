"""What a scenario is given: calls to one server, names of its own, and the notebook of what was observed.

Here live the raw calls (by method name, with plain keyword arguments), the reading of histories, and the
record of results and errors. Normalising and comparing live in `normalise` and `comparing`. Newcomers
forget that everything noted is compared: note what a user can see and rely on, and nothing that two runs on
the same server would disagree about.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import grpc
import temporalio.api.errordetails.v1 as errordetails  # noqa: F401  (registers the detail types that errors are unpacked to)
from google.protobuf import symbol_database
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.rpc import status_pb2
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.operatorservice.v1 import service_pb2 as operator_service
from temporalio.api.workflowservice.v1 import service_pb2 as workflow_service
from temporalio.client import Client

from .servers import NAMESPACE

CALL_SECONDS_MAX = 15.0
CONDITION_SECONDS_MAX = 15.0
MAXIMUM_MESSAGE_BYTES = 64 * 1024 * 1024
_SERVICES = (
    workflow_service.DESCRIPTOR.services_by_name["WorkflowService"],
    operator_service.DESCRIPTOR.services_by_name["OperatorService"],
)


class ScenarioError(AssertionError):
    """The scenario could not go on: something that it waited for never came."""


class Environment:
    """One scenario on one server."""

    def __init__(self, address: str, name: str) -> None:
        self.address = address
        self.name = name
        self.notes: dict[str, Any] = {}
        self.histories: dict[str, list[dict[str, Any]]] = {}
        self.uses_sdk = False
        self.requests: list[tuple[str, Message]] = []
        self._client: Client | None = None
        options = [
            ("grpc.max_receive_message_length", MAXIMUM_MESSAGE_BYTES),
            ("grpc.max_send_message_length", MAXIMUM_MESSAGE_BYTES),
        ]
        self._channel = grpc.aio.insecure_channel(address, options=options)

    async def close(self) -> None:
        """Close the raw channel; the SDK's client ends with its last reference."""
        await self._channel.close()

    async def client(self) -> Client:
        """An SDK client with a fixed identity, so that identities need no normalising."""
        self.uses_sdk = True
        if self._client is None:
            self._client = await Client.connect(self.address, namespace=NAMESPACE, identity="sdk-client")
        return self._client

    async def outlive_the_pause(self) -> None:
        """Let the run become older than a second: a younger one that continues as new is followed only after a pause.

        For scenarios that are about something else, and may run on a server that takes its time.
        """
        await asyncio.sleep(1.1)

    def id(self, suffix: str = "wf") -> str:
        """A workflow ID of this scenario; servers are fresh, so the same ID serves on both."""
        return f"{self.name}-{suffix}"

    def queue(self, suffix: str = "queue") -> str:
        """A task queue of this scenario."""
        return f"{self.name}-{suffix}"

    async def call(self, method: str, timeout: float = CALL_SECONDS_MAX, **fields: Any) -> Any:
        """Call a method by its name; namespace and identity are filled in where the request has them."""
        service, descriptor = _method(method)
        database = symbol_database.Default()
        request_type: Any = database.GetSymbol(descriptor.input_type.full_name)
        response_type: Any = database.GetSymbol(descriptor.output_type.full_name)
        names = set(descriptor.input_type.fields_by_name)
        if "namespace" in names:
            fields.setdefault("namespace", NAMESPACE)
        if "identity" in names:
            fields.setdefault("identity", "client")
        stub = self._channel.unary_unary(
            f"/{service}/{method}",
            request_serializer=request_type.SerializeToString,
            response_deserializer=response_type.FromString,
        )
        request = request_type(**fields)
        self.requests.append((method, request))
        return await stub(request, timeout=timeout)

    async def start(self, workflow_id: str | None = None, **fields: Any) -> str:
        """Start a workflow on this scenario's queue and give its run ID."""
        workflow_id = workflow_id or self.id()
        fields.setdefault("workflow_type", {"name": "Workflow"})
        fields.setdefault("task_queue", {"name": self.queue()})
        fields.setdefault("request_id", f"request-{workflow_id}")
        response = await self.call("StartWorkflowExecution", workflow_id=workflow_id, **fields)
        run_id: str = response.run_id
        return run_id

    async def signal(self, name: str = "signal", workflow_id: str | None = None, **fields: Any) -> None:
        """Signal the current run of a workflow."""
        execution = {"workflow_id": workflow_id or self.id()}
        fields.setdefault("workflow_execution", execution)
        await self.call("SignalWorkflowExecution", signal_name=name, **fields)

    async def terminate(self, workflow_id: str | None = None, **fields: Any) -> None:
        """Terminate the current run of a workflow."""
        execution = {"workflow_id": workflow_id or self.id()}
        fields.setdefault("workflow_execution", execution)
        await self.call("TerminateWorkflowExecution", **fields)

    def note(self, label: str, value: Any) -> None:
        """Record something that both servers must agree on."""
        assert label not in self.notes, f"{label} is noted twice"
        self.notes[label] = as_plain(value)

    async def attempt(self, label: str, outcome: Awaitable[Any]) -> Any:
        """Record what a call gives: its response, or its error with status, message and details."""
        try:
            response = await outcome
        except grpc.aio.AioRpcError as error:
            self.note(label, describe_error(error))
            return None
        self.note(label, {"ok": as_plain(response)})
        return response

    async def events(self, workflow_id: str, run_id: str = "") -> list[Any]:
        """All events of a run, page by page."""
        execution = WorkflowExecution(workflow_id=workflow_id, run_id=run_id)
        found: list[Any] = []
        token = b""
        while True:
            page = await self.call("GetWorkflowExecutionHistory", execution=execution, next_page_token=token)
            found.extend(page.history.events)
            token = page.next_page_token
            if not token:
                return found

    async def record(
        self, workflow_id: str | None = None, run_id: str = "", label: str | None = None
    ) -> None:
        """Record a run's history for comparison."""
        workflow_id = workflow_id or self.id()
        label = label or f"{workflow_id} ({len(self.histories) + 1})"
        self.histories[label] = [as_plain(event) for event in await self.events(workflow_id, run_id)]

    async def describe(self, workflow_id: str | None = None, run_id: str = "") -> Any:
        """Describe a run."""
        execution = WorkflowExecution(workflow_id=workflow_id or self.id(), run_id=run_id)
        return await self.call("DescribeWorkflowExecution", execution=execution)

    async def until(self, what: str, condition: Callable[[], Awaitable[Any]]) -> Any:
        """Wait until a condition gives something true, and give that."""
        deadline = asyncio.get_running_loop().time() + CONDITION_SECONDS_MAX
        while True:
            value = await condition()
            if value:
                return value
            if asyncio.get_running_loop().time() > deadline:
                raise ScenarioError(f"never came: {what}")
            await asyncio.sleep(0.05)

    async def until_event(
        self, event_type: str, workflow_id: str | None = None, run_id: str = "", n: int = 1
    ) -> Any:
        """Wait for the n-th event of a type (its name without the prefix) in a run's history, and give it."""
        workflow_id = workflow_id or self.id()

        async def found() -> Any:
            events = await self.events(workflow_id, run_id)
            matching = [event for event in events if type_name(event) == event_type]
            return matching[n - 1] if len(matching) >= n else None

        return await self.until(f"{event_type} number {n} in {workflow_id}", found)


def _method(name: str) -> tuple[str, Any]:
    for service in _SERVICES:
        if name in service.methods_by_name:
            return service.full_name, service.methods_by_name[name]
    raise KeyError(name)


def type_name(event: Any) -> str:
    """The event type as the API's constants spell it, without their common prefix."""
    from temporalio.api.enums.v1 import EventType

    return EventType.Name(event.event_type).removeprefix("EVENT_TYPE_")


def as_plain(value: Any) -> Any:
    """Messages as dictionaries, everything else as it is."""
    if isinstance(value, Message):
        return MessageToDict(value)
    if isinstance(value, dict):
        return {key: as_plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [as_plain(item) for item in value]
    return value


def describe_error(error: grpc.aio.AioRpcError) -> dict[str, Any]:
    """Status, message and unpacked details of a failed call."""
    described: dict[str, Any] = {"code": error.code().name, "message": error.details() or ""}
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            status = status_pb2.Status.FromString(value if isinstance(value, bytes) else value.encode())
            described["details"] = [MessageToDict(detail) for detail in status.details]
    return described
