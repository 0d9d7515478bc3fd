"""What keeps the history table tidy: parts that a commit referred to stay, those of closed runs expire, and so does
nothing that another run's history goes on from.

What does not live here: when that is done. A commit settles its own parts, the reader of the stream does the rest, and
everything here may be repeated.
A newcomer's trap: an expiry that is set is a deletion that is announced. It is only set on what belongs to a closed run
that no other one shares, and removed before anything else can rely on it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

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
        run_id, sort = image[tables.PARTITION]["S"], image[tables.SORT]["S"]
        chores = int(image[tables.CHORES]["N"])
        if chores & SHARE:
            for branch in body.ancestors:
                self._share(branch, run_id)
        if chores & RETIRE:
            self._retire(run_id, sort, body, int(image[tables.EXPIRES_AT]["N"]))
        elif chores & SETTLE:
            self.settle(body.unsettled)

    # Sharing. --------------------------------------------------------------------------------------------------------

    def _share(self, branch: str, sharer: str) -> None:
        """The run that wrote the branch stays as long as the sharer does."""
        for item in self._documents_of(branch):
            self._database.change(
                RunItem, item.pk, item.sk, [RunItem.sharers.add({sharer})], RunItem.pk.exists()
            )
            self._expire([branch], None)
            self._database.change(
                RunItem, item.pk, item.sk, [RunItem.expires_at.remove()], RunItem.pk.exists()
            )

    def _retire(self, run_id: str, sort: str, body: Body, expires_at: int) -> None:
        """The run is closed: let what is stored beside its document expire with it, and what only it still shares."""
        self._release(body.ancestors, run_id, expires_at)
        if self._shared(run_id, sort):
            return
        partitions = [run_id, *body.branches]
        self._expire(partitions, expires_at)
        if self._shared(run_id, sort):
            # Somebody began to share it meanwhile.
            self._expire(partitions, None)

    def _release(self, ancestors: Iterable[str], sharer: str, expires_at: int) -> None:
        for branch in ancestors:
            for item in self._documents_of(branch):
                self._database.change(
                    RunItem, item.pk, item.sk, [RunItem.sharers.delete({sharer})], RunItem.pk.exists()
                )
                if self._shared(item.pk, item.sk):
                    continue
                self._expire([branch], expires_at)
                self._database.change(
                    RunItem,
                    item.pk,
                    item.sk,
                    [RunItem.expires_at.set(expires_at)],
                    RunItem.pk.exists() & RunItem.sharers.does_not_exist(),
                )

    def _shared(self, run_id: str, sort: str) -> bool:
        item = self._database.get(RunItem, run_id, sort)
        return item is not None and bool(item.sharers)

    def _documents_of(self, branch: str) -> Iterator[RunItem]:
        begins = RunItem.sk.startswith(keys.DOCUMENT)
        yield from self._database.query(
            RunItem, branch, begins, attributes=[tables.PARTITION, tables.SORT, "sharers"]
        )

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

    def remove_parts(self, key: RunKey, document: Document) -> None:
        """Remove what is stored beside a document that is about to be deleted, and what only it still shares."""
        body = document.body
        self._remove_unshared(body.ancestors, key.run_id)
        sharers = self._sharers(key)
        if sharers:
            self._leave_history(key.run_id, body.tail, sharers)
            return
        for partition in (key.run_id, *body.branches):
            self._remove_partition(partition)

    def _remove_unshared(self, ancestors: Iterable[str], sharer: str) -> None:
        for branch in ancestors:
            owners = list(self._documents_of(branch))
            for item in owners:
                self._database.change(
                    RunItem, item.pk, item.sk, [RunItem.sharers.delete({sharer})], RunItem.pk.exists()
                )
            if not owners and not self._orphan_shared(branch, sharer):
                self._remove_partition(branch)

    def _sharers(self, key: RunKey) -> set[str]:
        item = self._database.get(RunItem, *keys.document(key))
        return set() if item is None or not item.sharers else set(item.sharers)

    def _leave_history(self, run_id: str, tail: tuple[TailNode, ...], sharers: set[str]) -> None:
        """The document goes, but others' histories go on from its own: its tail becomes nodes, and they are noted."""
        if tail:
            sort = keys.node(tail[0].first_event_id, tail[-1].transaction_id)
            self._database.put(PartItem(pk=run_id, sk=sort, value=encode_nodes(tail)))
        for sharer in sharers:
            self._database.put(PartItem(pk=run_id, sk=keys.SHARED + sharer))

    def _orphan_shared(self, branch: str, sharer: str) -> bool:
        """Whether others than the sharer go on from a branch whose run is deleted."""
        self._database.remove(PartItem, branch, keys.SHARED + sharer)
        marks = self._database.query(PartItem, branch, PartItem.sk.startswith(keys.SHARED), page=1)
        return next(marks, None) is not None

    def _remove_partition(self, partition: str) -> None:
        for sort in self._sorts(partition):
            self._database.remove(PartItem, partition, sort)
