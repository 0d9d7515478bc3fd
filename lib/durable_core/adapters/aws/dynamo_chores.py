"""What keeps the history table tidy: parts that a commit referred to stay, those of closed runs expire, and so does
nothing that another run's history goes on from.

What does not live here: when that is done. A commit settles its own parts, the reader of the stream does the rest, and
everything here may be repeated.
A newcomer's trap: an expiry that is set is a deletion that is announced. It is only set on what belongs to a closed run
that no other one shares, and removed before anything else can rely on it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from durable_core.adapters.aws import keys
from durable_core.adapters.aws.documents import (
    RETIRE,
    SETTLE,
    SHARE,
    Blob,
    Body,
    Document,
    TailNode,
    binary,
    decode_body,
    encode_nodes,
)
from durable_core.adapters.aws.dynamo_database import Database
from durable_core.adapters.aws.dynamo_items import BODY, PartItem, RunItem
from durable_core.model.ids import RunKey
from durable_core.schema import tables


class Chores:
    def __init__(self, database: Database) -> None:
        self._database = database

    def settle(self, blobs: Iterable[tuple[str, Blob]]) -> None:
        """Keep parts that were written before the commit that refers to them. They are never created here."""
        for partition, blob in blobs:
            for number in range(blob.chunks):
                self._database.change(
                    PartItem,
                    partition,
                    keys.chunk(blob, number),
                    [PartItem.expires_at.remove()],
                    PartItem.pk.exists(),
                )

    def do(self, image: Mapping[str, Any]) -> None:
        """The chores of a document's image in the stream."""
        data = binary(image, BODY)
        if data is None:
            return
        body = decode_body(data)
        run_id = image[tables.PARTITION]["S"]
        chores = int(image[tables.CHORES]["N"])
        if chores & SHARE:
            for branch in body.ancestors:
                self._share(branch)
        if chores & RETIRE and tables.EXPIRES_AT in image:
            self._retire(run_id, body, int(image[tables.EXPIRES_AT]["N"]))
        elif chores & SETTLE:
            self.settle(body.unsettled)

    # Sharing. --------------------------------------------------------------------------------------------------------

    def _share(self, branch: str) -> None:
        """Others' histories go on from the branch: neither it nor the document of its run may expire."""
        self._expire([branch], None)
        for item in self._documents_of(branch):
            if not item.expires_at:
                continue
            kept = [RunItem.kept_until.set(item.expires_at), RunItem.expires_at.remove()]
            self._change(item, kept, RunItem.expires_at == item.expires_at)

    def _retire(self, run_id: str, body: Body, expires_at: int) -> None:
        """The run is closed: let what is stored beside its document expire with it, and what only it still shares."""
        self._release(body.ancestors, run_id, expires_at)
        for branch in (run_id, *body.branches):
            if self._is_shared(branch):
                continue
            self._expire([branch], expires_at)
            if self._is_shared(branch):
                # Somebody began to share it meanwhile.
                self._expire([branch], None)

    def _release(self, ancestors: Iterable[str], sharer: str, expires_at: int) -> None:
        """A run no longer keeps what its history goes on from, after the time that it is itself kept."""
        for branch in ancestors:
            self._database.remove(PartItem, branch, keys.SHARED + sharer)
            if self._is_shared(branch):
                continue
            until = expires_at
            for item in self._documents_of(branch):
                until = max(until, int(item.kept_until or 0))
                self._change(item, [RunItem.expires_at.set(until)], RunItem.kept_until.exists())
            self._expire([branch], until)

    def _change(self, item: RunItem, actions: Sequence[Action], condition: Condition) -> None:
        """Change a document, which then is in the stream once more and must not emit again what it emitted."""
        told = (RunItem.tasks, RunItem.wake_up, RunItem.claimed, RunItem.chores)
        emitted = [attribute.remove() for attribute in told]
        self._database.change(RunItem, item.pk, item.sk, [*actions, *emitted], condition)

    def _is_shared(self, branch: str) -> bool:
        marks = self._database.query(PartItem, branch, PartItem.sk.startswith(keys.SHARED), page=1)
        return next(marks, None) is not None

    def _documents_of(self, branch: str) -> Iterator[RunItem]:
        """Documents of the run that wrote the branch, which has its ID."""
        begins = RunItem.sk.startswith(keys.DOCUMENT)
        wanted = [tables.PARTITION, tables.SORT, tables.EXPIRES_AT, "kept_until"]
        yield from self._database.query(RunItem, branch, begins, attributes=wanted)

    def _expire(self, partitions: Iterable[str], expires_at: int | None) -> None:
        """Set the expiry of everything in these partitions of the history table, or remove it."""
        action = PartItem.expires_at.remove() if expires_at is None else PartItem.expires_at.set(expires_at)
        for partition in partitions:
            for sort in self._sorts(partition):
                self._database.change(PartItem, partition, sort, [action], PartItem.pk.exists())

    def _sorts(self, partition: str) -> list[str]:
        found = self._database.query(PartItem, partition, attributes=[tables.PARTITION, tables.SORT])
        return [item.sk for item in found]

    # Deleting. -------------------------------------------------------------------------------------------------------

    def remove_parts(self, key: RunKey, document: Document, now: int) -> None:
        """Remove what is stored beside a document that is about to be deleted, and what only it still shares.

        `now` in seconds: what the deleted run kept beyond its time expires then.
        """
        body = document.body
        for branch in body.ancestors:
            orphaned = self._database.get(PartItem, branch, keys.ORPHANED) is not None
            if not orphaned:
                self._release([branch], key.run_id, now)
                continue
            self._database.remove(PartItem, branch, keys.SHARED + key.run_id)
            if not self._is_shared(branch):
                self._remove_partition(branch)
        for branch in (key.run_id, *body.branches):
            if self._is_shared(branch):
                self._leave(branch, body.tail if branch == key.run_id else ())
            else:
                self._remove_partition(branch)

    def _leave(self, branch: str, tail: tuple[TailNode, ...]) -> None:
        """The document goes, but others' histories go on from the branch: what the document carries becomes a node."""
        if tail:
            sort = keys.node(tail[0].first_event_id, tail[-1].transaction_id)
            self._database.put(PartItem(pk=branch, sk=sort, value=encode_nodes(tail)))
        self._database.put(PartItem(pk=branch, sk=keys.ORPHANED))

    def _remove_partition(self, partition: str) -> None:
        for sort in self._sorts(partition):
            self._database.remove(PartItem, partition, sort)
