"""Run documents: what is in one, and what its image in the stream tells.

A document holds the core, the entries of its sections, the tail of its history, and the references to what outgrew it.
What does not live here: what goes into the document and what beside it (`layout`), and where it is stored
(`dynamo_executions`).
A newcomer's trap: where a section has pages, the document's own entries are changes on top of them, and None is an
entry that the pages have and the section has no more.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from durable_core.adapters.aws.packing import packed, unpacked
from durable_core.model.ids import RunKey
from durable_core.model.tasks import Task, TaskBody
from durable_core.ports.executions import HistoryNode, StoredRun
from durable_core.ports.wake_ups import WakeUp
from durable_core.schema import tables

SETTLE = 1
"""A chore: parts that were written before the commit must lose their expiry."""
RETIRE = 2
"""A chore: the run is closed, and what is stored beside its document must expire with it."""
SHARE = 4
"""A chore: the run's history goes on from others', which must stay as long as it."""


class Blob(msgspec.Struct, frozen=True, array_like=True):
    """A value in items of its own: their name and number."""

    name: str
    chunks: int


class PageRef(msgspec.Struct, frozen=True, array_like=True):
    """A page of a section: its number and the run's version that wrote it, or the blob that it is."""

    number: int
    generation: int
    blob: Blob | None = None


class TailNode(msgspec.Struct, frozen=True, array_like=True):
    first_event_id: int
    transaction_id: int
    count: int
    events: bytes

    @property
    def end(self) -> int:
        return self.first_event_id + self.count


class Body(msgspec.Struct, frozen=True, array_like=True):
    """The stored form. Fields are by position: add at the end, with a default."""

    core: bytes
    sections: dict[str, dict[str, bytes | None]]
    tail: tuple[TailNode, ...] = ()
    core_blob: Blob | None = None
    pages: dict[str, tuple[PageRef, ...]] = {}
    next_page: int = 0
    free_pages: tuple[int, ...] = ()
    next_event_id: int = 1  # of the run's own branch
    has_nodes: bool = False  # the run's own branch goes on outside the document
    branches: tuple[str, ...] = ()  # other branches that this run wrote nodes of
    ancestors: tuple[str, ...] = ()  # branches of other runs that its history goes on from
    unsettled: tuple[tuple[str, Blob], ...] = ()  # blobs of the last transition, with their partitions


Entries = Mapping[str, bytes]
_decode_body = msgspec.msgpack.Decoder(Body)
_decode_core = msgspec.msgpack.Decoder(bytes)
_decode_nodes = msgspec.msgpack.Decoder(tuple[TailNode, ...])
_decode_entries = msgspec.msgpack.Decoder(dict[str, bytes])


@dataclass(frozen=True, slots=True)
class Document:
    """A document with the pages that it refers to; nothing in it is ever changed."""

    version: int
    token: str
    body: Body
    pages: Mapping[PageRef, Entries] = field(default_factory=dict)

    @property
    def has_parts(self) -> bool:
        """Whether anything of the run is stored beside the document."""
        body = self.body
        return bool(
            body.has_nodes
            or body.pages
            or body.next_page
            or body.branches
            or body.core_blob
            or body.unsettled
        )

    def without_unsettled(self) -> "Document":
        body = msgspec.structs.replace(self.body, unsettled=())
        return Document(self.version, self.token, body, self.pages)

    def size(self) -> int:
        """Bytes in memory, roughly."""
        return (
            len(self.body.core)
            + sum(len(node.events) for node in self.body.tail)
            + sum(entries_size(entries) for entries in self.body.sections.values())
            + sum(entries_size(entries) for entries in self.pages.values())
        )

    def stored_run(self) -> StoredRun:
        return StoredRun(self.version, self.body.core, {name: self.section(name) for name in self.names()})

    def names(self) -> list[str]:
        return [*self.body.sections, *(name for name in self.body.pages if name not in self.body.sections)]

    def section(self, name: str) -> dict[str, bytes]:
        """All entries of a section, a dictionary of the caller's own."""
        merged: dict[str, bytes] = {}
        for ref in self.body.pages.get(name, ()):
            merged.update(self.pages[ref])
        for entry, value in self.body.sections.get(name, {}).items():
            if value is None:
                merged.pop(entry, None)
            else:
                merged[entry] = value
        return merged


def entries_size(entries: Mapping[str, bytes | None]) -> int:
    return sum(len(entry) + len(value or b"") + 4 for entry, value in entries.items())


def encode_body(body: Body) -> bytes:
    """A core that is stored as a blob is not stored twice."""
    return packed(body if body.core_blob is None else msgspec.structs.replace(body, core=b""))


def decode_body(data: bytes) -> Body:
    """Raises `NewerFormat` for what newer code wrote."""
    body: Body = unpacked(data, _decode_body)
    return body


def encode_core(core: bytes) -> bytes:
    """A core that is stored as a blob."""
    return packed(core)


def decode_core(data: bytes) -> bytes:
    core: bytes = unpacked(data, _decode_core)
    return core


def encode_nodes(nodes: Sequence[TailNode]) -> bytes:
    return packed(nodes)


def decode_nodes(data: bytes) -> tuple[TailNode, ...]:
    nodes: tuple[TailNode, ...] = unpacked(data, _decode_nodes)
    return nodes


def encode_entries(entries: Entries) -> bytes:
    return packed(entries)


def decode_entries(data: bytes) -> dict[str, bytes]:
    entries: dict[str, bytes] = unpacked(data, _decode_entries)
    return entries


def tail_node(node: HistoryNode) -> TailNode:
    return TailNode(node.first_event_id, node.transaction_id, node.count, node.events)


# What the stream carries. --------------------------------------------------------------------------------------------


class _Emitted(msgspec.Struct, frozen=True, array_like=True):
    task_id: int
    queue_name: str
    queue_kind: int
    body: TaskBody


class _Tasks(msgspec.Struct, frozen=True, array_like=True):
    """The tasks of one run: what they share is said once."""

    namespace_id: str
    workflow_id: str
    run_id: str
    tasks: tuple[_Emitted, ...]


class _WakeUp(msgspec.Struct, frozen=True, array_like=True):
    namespace_id: str
    workflow_id: str
    run_id: str
    due: int


DISARMED = b"\0"
"""In the place of a wake-up: the run waits for none any more."""

_decode_tasks = msgspec.msgpack.Decoder(_Tasks)
_decode_wake_up = msgspec.msgpack.Decoder(_WakeUp)
_decode_claimed = msgspec.msgpack.Decoder(TaskBody)


def encode_tasks(key: RunKey, tasks: Sequence[Task]) -> bytes:
    emitted = tuple(_Emitted(task.task_id, task.queue_name, task.queue_kind, task.body) for task in tasks)
    return packed(_Tasks(*key, emitted))


def encode_wake_up(key: RunKey, due: int) -> bytes:
    return packed(_WakeUp(*key, due)) if due else DISARMED


def encode_claimed(body: TaskBody) -> bytes:
    return packed(body)


def emitted(new_image: Mapping[str, Any]) -> tuple[list[Task], WakeUp | None]:
    """The tasks and the wake-up that the transition behind a stream record emitted; see `is_disarmed`, too.

    `new_image` is an item as the stream gives it, with binary values as bytes or as base64. Raises `ValueError` for
    what is damaged, which no repetition mends, and `NewerFormat` for what newer code wrote.
    """
    tasks: list[Task] = []
    if (data := binary(new_image, tables.TASKS)) is not None:
        told: _Tasks = unpacked(data, _decode_tasks)
        run = (told.namespace_id, told.workflow_id, told.run_id)
        tasks = [Task(one.task_id, *run, one.queue_name, one.queue_kind, one.body) for one in told.tasks]
    if (data := binary(new_image, tables.WAKE_UP)) is not None and data != DISARMED:
        armed: _WakeUp = unpacked(data, _decode_wake_up)
        key = RunKey(armed.namespace_id, armed.workflow_id, armed.run_id)
        return tasks, WakeUp(key, armed.due) if armed.due else None
    return tasks, None


def is_disarmed(new_image: Mapping[str, Any]) -> bool:
    """Whether the run waits for no wake-up any more, by this very transition."""
    return binary(new_image, tables.WAKE_UP) == DISARMED


def claimed(new_image: Mapping[str, Any]) -> TaskBody | None:
    """The run's task that a poller started by this very transition. Raises as `emitted` does."""
    data = binary(new_image, tables.CLAIMED)
    if data is None:
        return None
    body: TaskBody = unpacked(data, _decode_claimed)
    return body


def has_chores(new_image: Mapping[str, Any]) -> bool:
    """Whether the transition left work behind that whoever reads the stream must do."""
    return tables.CHORES in new_image


def binary(image: Mapping[str, Any], name: str) -> bytes | None:
    """A binary attribute of an item as the stream gives it: to a function as base64, to others as bytes."""
    attribute = image.get(name)
    if attribute is None:
        return None
    value = attribute.get("B")
    if isinstance(value, str):
        return base64.b64decode(value, validate=True)
    if isinstance(value, bytes):
        return value
    raise ValueError(f"attribute {name} is not binary")
