"""From a transaction of the port to items: what one DynamoDB transaction writes, and what is written before it.

DynamoDB's limits are met here: 400 KB an item, 100 items and 4 MB a transaction. What exceeds them becomes a blob:
chunks that are written first, under a name that nothing refers to yet, and expire unless the commit that refers to them
succeeds.
What does not live here: sending it (`dynamo_executions`).
A newcomer's trap: DynamoDB reports the reasons of a refusal by position. The shard comes first, then the documents in
the order of the transaction's runs, then the pointer, then the rest, which has no conditions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from pynamodb.expressions.condition import Condition
from pynamodb.models import Model

from durable_core.adapters.aws import keys
from durable_core.adapters.aws.documents import (
    RETIRE,
    SETTLE,
    SHARE,
    Blob,
    Document,
    PageRef,
    encode_body,
    encode_claimed,
    encode_core,
    encode_entries,
    encode_nodes,
    encode_tasks,
    encode_wake_up,
    tail_node,
)
from durable_core.adapters.aws.dynamo_items import PartItem, PointerItem, RunItem, ShardItem
from durable_core.adapters.aws.layout import Layout, next_layout
from durable_core.model.errors import StorageError
from durable_core.model.ids import RunKey
from durable_core.model.tasks import Task
from durable_core.model.times import DAY, SECOND
from durable_core.ports.executions import CurrentRunWrite, RunWrite, Transaction

KB = 1024
VALUE_MAX = 300 * KB
"""A value that an item holds; DynamoDB allows 400 KB for the whole item."""
DOCUMENT_MAX = 380 * KB
CORE_MAX = 128 * KB
CHUNK_BYTES = 350 * KB
TASKS_MAX = 64 * KB
"""Bytes of tasks in a document's item; more go into items of their own."""
ITEMS_MAX = 100
BYTES_MAX = 2560 * KB
"""DynamoDB allows 4 MB a transaction; how it counts is not told to the byte, and writing ahead costs no more."""
ITEM_OVERHEAD = 150
UNSETTLED_EXPIRY = 30 * DAY
CARRIER_EXPIRY = 2 * DAY


@dataclass(slots=True)
class Saved:
    """An item to put. `tells`: a refusal shows the item that is there."""

    item: Model
    condition: Condition | None = None
    tells: bool = False


@dataclass(slots=True)
class Prepared:
    """What to write: `ahead` first, then `saves` in one transaction that also checks or claims the shard."""

    claim: ShardItem | None
    saves: list[Saved]
    ahead: list[PartItem]
    documents: dict[RunKey, Document]


@dataclass(slots=True)
class _Value:
    """A value of the history table on its way: into an item of the transaction, or ahead of it as a blob."""

    partition: str
    sort: str
    data: bytes
    page: tuple[str, PageRef] | None = None
    blob: Blob | None = None


@dataclass(slots=True)
class _Run:
    """One run of the transaction while it is prepared."""

    write: RunWrite
    layout: Layout
    tasks: bytes | None
    wake_up: bytes | None
    carriers: list[RunItem]
    values: list[_Value] = field(default_factory=list)
    core: _Value | None = None

    @property
    def blobs(self) -> tuple[tuple[str, Blob], ...]:
        values = [*self.values, *([self.core] if self.core is not None else [])]
        return tuple((value.partition, value.blob) for value in values if value.blob is not None)


class Preparation:
    """One transaction's items in the making."""

    def __init__(self, transaction: Transaction, befores: Mapping[RunKey, Document | None], now: int) -> None:
        self._transaction = transaction
        self._now = now
        self._ahead: list[PartItem] = []
        self._blobs = 0
        self._runs = [self._run(write, befores.get(write.key)) for write in transaction.runs]

    def prepared(self) -> Prepared:
        """Raises `StorageError` for what no arrangement makes small enough."""
        self._keep_limits()
        documents: dict[RunKey, Document] = {}
        saves: list[Saved] = []
        for run in self._runs:
            document = self._document(run)
            documents[run.write.key] = document
            saves.append(self._saved(run, document))
        if self._transaction.current is not None:
            saves.append(self._pointer(self._transaction.current))
        for run in self._runs:
            saves.extend(Saved(item) for item in run.carriers)
            saves.extend(
                Saved(PartItem(pk=branch, sk=keys.SHARED + run.write.key.run_id))
                for branch in run.write.ancestors
            )
            saves.extend(
                Saved(_part(value)) for value in run.values if value.page is None or value.blob is None
            )
        return Prepared(self._claim(), saves, self._ahead, documents)

    def _claim(self) -> ShardItem | None:
        transaction = self._transaction
        if not transaction.claim:
            return None
        return ShardItem(pk=transaction.shard, range_id=transaction.range_id, owner=transaction.owner)

    # The runs. -------------------------------------------------------------------------------------------------------

    def _run(self, write: RunWrite, before: Document | None) -> _Run:
        tasks, carriers = self._tasks(write)
        wake_up = None if write.wake_up_at is None else encode_wake_up(write.key, write.wake_up_at)
        beside = len(tasks or b"") + len(wake_up or b"")
        layout = next_layout(before, write, self._transaction.token, beside)
        run = _Run(write, layout, tasks, wake_up, carriers)
        run_id = write.key.run_id
        if layout.nodes:
            first, last = layout.nodes[0], layout.nodes[-1]
            sort = keys.node(first.first_event_id, last.transaction_id)
            run.values.append(_Value(run_id, sort, encode_nodes(layout.nodes)))
        for node in layout.loose:
            sort = keys.node(node.first_event_id, node.transaction_id)
            run.values.append(_Value(node.branch_id, sort, encode_nodes((tail_node(node),))))
        names = {ref: name for name, refs in layout.document.body.pages.items() for ref in refs}
        for ref, entries in layout.pages.items():
            value = _Value(run_id, keys.page(ref.number), encode_entries(entries))
            value.page = (names[ref], ref)
            run.values.append(value)
        for value in run.values:
            if len(value.data) > VALUE_MAX:
                self._write_ahead(value)
        if len(write.core) > CORE_MAX and len(core := encode_core(write.core)) > CORE_MAX:
            run.core = _Value(run_id, "", core)
            self._write_ahead(run.core)
        return run

    def _tasks(self, write: RunWrite) -> tuple[bytes | None, list[RunItem]]:
        """The tasks in the document's item, or, when they are many, in items that carry nothing else."""
        if not write.tasks:
            return None, []
        whole = encode_tasks(write.key, write.tasks)
        if len(whole) <= TASKS_MAX:
            return whole, []
        expires_at = (self._now + CARRIER_EXPIRY) // SECOND
        carriers = []
        for number, part in enumerate(_carried(write.key, write.tasks)):
            pk, sk = keys.carrier(write.key, number)
            carriers.append(
                RunItem(pk=pk, sk=sk, tasks=part, token=self._transaction.token, expires_at=expires_at)
            )
        return None, carriers

    def _document(self, run: _Run) -> Document:
        """The document with references to what became a blob."""
        document = run.layout.document
        pages = dict(document.pages)
        refs = dict(document.body.pages)
        for value in run.values:
            if value.page is None or value.blob is None:
                continue
            name, ref = value.page
            placed = msgspec.structs.replace(ref, blob=value.blob)
            pages[placed] = pages.pop(ref)
            refs[name] = tuple(placed if one == ref else one for one in refs[name])
        blob = None if run.core is None else run.core.blob
        body = msgspec.structs.replace(document.body, pages=refs, core_blob=blob, unsettled=run.blobs)
        return Document(document.version, document.token, body, pages)

    def _saved(self, run: _Run, document: Document) -> Saved:
        write = run.write
        pk, sk = keys.document(write.key)
        item = RunItem(
            pk=pk,
            sk=sk,
            version=document.version,
            token=document.token,
            body=encode_body(document.body),
            tasks=run.tasks,
            wake_up=run.wake_up,
            claimed=None if write.claimed is None else encode_claimed(write.claimed),
            chores=_chores(write, document) or None,
            expires_at=_seconds(write.retain_until),
        )
        if len(item.body) + len(run.tasks or b"") > DOCUMENT_MAX:
            raise StorageError(f"the document of run {write.key.run_id} is {len(item.body)} bytes large")
        if write.expected_version == 0:
            return Saved(item, RunItem.pk.does_not_exist(), tells=True)
        return Saved(item, RunItem.version == write.expected_version, tells=True)

    def _pointer(self, write: CurrentRunWrite) -> Saved:
        pk, sk = keys.pointer(write.key)
        current = write.current
        retained = {run.write.key.run_id: run.write.retain_until for run in self._runs}
        expires_at = None if current.open else _seconds(retained.get(current.run_id, 0))
        item = PointerItem(
            pk=pk,
            sk=sk,
            run_id=current.run_id,
            open=int(current.open),
            state=current.state,
            expires_at=expires_at,
        )
        if write.expected_run_id is None:
            expired = PointerItem.expires_at <= self._now // SECOND
            return Saved(item, PointerItem.pk.does_not_exist() | expired)
        return Saved(item, PointerItem.run_id == write.expected_run_id)

    # Limits. ---------------------------------------------------------------------------------------------------------

    def _keep_limits(self) -> None:
        """Write the largest values ahead until the rest fits into one transaction."""
        while True:
            items, size = self._weight()
            if items <= ITEMS_MAX and size <= BYTES_MAX:
                return
            candidates = [value for run in self._runs for value in run.values if value.blob is None]
            if items > ITEMS_MAX:
                # Only a page leaves the transaction altogether: the document itself refers to its blob.
                candidates = [value for value in candidates if value.page is not None]
            if not candidates:
                raise StorageError(f"a transaction of {items} items and {size} bytes is too large")
            self._write_ahead(max(candidates, key=lambda value: len(value.data)))

    def _weight(self) -> tuple[int, int]:
        """Items and bytes of the transaction, an upper bound."""
        items, size = 2, 2 * KB
        for run in self._runs:
            body = len(encode_body(run.layout.document.body)) if run.core is None else DOCUMENT_MAX
            items += 1 + len(run.carriers) + len(run.write.ancestors)
            size += body + len(run.tasks or b"") + ITEM_OVERHEAD
            size += sum(len(item.tasks) + ITEM_OVERHEAD for item in run.carriers)
            for value in run.values:
                if value.blob is None:
                    size += len(value.data)
                if value.blob is None or value.page is None:
                    items += 1
                    size += ITEM_OVERHEAD
        return items, size

    def _write_ahead(self, value: _Value) -> None:
        chunks = [value.data[at : at + CHUNK_BYTES] for at in range(0, len(value.data), CHUNK_BYTES)]
        value.blob = Blob(keys.blob_name(self._transaction.token, self._blobs), len(chunks))
        self._blobs += 1
        expires_at = (self._now + UNSETTLED_EXPIRY) // SECOND
        self._ahead.extend(
            PartItem(pk=value.partition, sk=keys.chunk(value.blob, number), value=data, expires_at=expires_at)
            for number, data in enumerate(chunks)
        )


def _part(value: _Value) -> PartItem:
    item = PartItem(pk=value.partition, sk=value.sort)
    if value.blob is not None:
        item.blob, item.chunks = value.blob.name, value.blob.chunks
    else:
        item.value = value.data
    if value.page is not None:
        item.generation = value.page[1].generation
    return item


def _carried(key: RunKey, tasks: Sequence[Task]) -> list[bytes]:
    """The tasks in parts that each fit an item."""
    whole = encode_tasks(key, tasks)
    if len(whole) <= VALUE_MAX or len(tasks) == 1:
        return [whole]
    half = len(tasks) // 2
    return [*_carried(key, tasks[:half]), *_carried(key, tasks[half:])]


def _chores(write: RunWrite, document: Document) -> int:
    chores = SETTLE if document.body.unsettled else 0
    if write.retain_until and (document.has_parts or document.body.ancestors):
        chores |= RETIRE
    if write.ancestors and write.expected_version == 0:
        chores |= SHARE
    return chores


def _seconds(nanoseconds: int) -> Any:
    """A time to live: never early."""
    return -(-nanoseconds // SECOND) if nanoseconds else None
