"""Reading run documents with what is stored beside them, and remembering them.

What does not live here: writing (`dynamo_transactions`), histories (`dynamo_histories`).
A newcomer's trap: a page is written in place, so it may be newer than the document that was just read; its generation
tells, and then the document is read again.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from durable_core.adapters.aws import keys
from durable_core.adapters.aws.documents import (
    Blob,
    Document,
    Entries,
    PageRef,
    decode_body,
    decode_core,
    decode_entries,
)
from durable_core.adapters.aws.dynamo_database import Database
from durable_core.adapters.aws.dynamo_items import PartItem, RunItem
from durable_core.model.errors import StorageError, Unavailable
from durable_core.model.ids import RunKey
from durable_core.model.times import SECOND
from durable_core.ports.clock import Clock

DOCUMENTS_CACHED = 500
BYTES_CACHED = 64 * 1024 * 1024
READS_MAX = 6
"""Readings of one run, when another process writes it all the while."""


class Missing(StorageError):
    """Something that a document refers to is not there."""


class Documents:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._cache: OrderedDict[RunKey, Document] = OrderedDict()
        self._by_run_id: dict[str, RunKey] = {}
        self._sizes: dict[RunKey, int] = {}
        self._bytes = 0

    # What was read or written last. ----------------------------------------------------------------------------------

    def cached(self, key: RunKey) -> Document | None:
        return self._cache.get(key)

    def of_branch(self, branch_id: str) -> Document | None:
        """The cached document of the run that wrote the branch."""
        key = self._by_run_id.get(branch_id)
        return None if key is None else self._cache.get(key)

    def remember(self, key: RunKey, document: Document) -> None:
        self.forget(key)
        size = document.size()
        self._cache[key] = document
        self._by_run_id[key.run_id] = key
        self._sizes[key] = size
        self._bytes += size
        while len(self._cache) > DOCUMENTS_CACHED or (self._bytes > BYTES_CACHED and len(self._cache) > 1):
            self.forget(next(iter(self._cache)))

    def forget(self, key: RunKey) -> None:
        if self._cache.pop(key, None) is not None:
            self._bytes -= self._sizes.pop(key)
            self._by_run_id.pop(key.run_id, None)

    # Reading. --------------------------------------------------------------------------------------------------------

    def load(self, key: RunKey) -> Document | None:
        """The document as it is now, read consistently."""
        return self.complete(key, self._database.raw(RunItem, *keys.document(key)))

    def complete(self, key: RunKey, raw: Mapping[str, Any] | None) -> Document | None:
        """The document of an item that was just read, with its pages; read again if it changed meanwhile."""
        for _ in range(READS_MAX):
            item = None if raw is None else RunItem.from_raw_data(dict(raw))
            if item is None or self.is_expired(item):
                self.forget(key)
                return None
            document = self._completed(key, item)
            if document is not None:
                self.remember(key, document)
                return document
            raw = self._database.raw(RunItem, *keys.document(key))
        raise Unavailable("the run is written faster than it can be read; try again")

    def is_expired(self, item: Any) -> bool:
        """DynamoDB removes what expired within days; for us it is gone at once."""
        return item.expires_at is not None and item.expires_at * SECOND <= self._clock.now()

    def _completed(self, key: RunKey, item: RunItem) -> Document | None:
        """None when a page is not the one that the document refers to."""
        version, token = int(item.version or 0), item.token or ""
        cached = self._cache.get(key)
        if cached is not None and (cached.version, cached.token) == (version, token):
            return cached
        body = decode_body(item.body or b"")
        known = {} if cached is None else cached.pages
        refs = [ref for its in body.pages.values() for ref in its]
        wanted = [ref for ref in refs if ref not in known]
        blobs = [ref.blob for ref in wanted if ref.blob is not None]
        if body.core_blob is not None:
            blobs.append(body.core_blob)
        if not wanted and not blobs:
            return Document(version, token, body, {ref: known[ref] for ref in refs})
        try:
            pages, read = self._read(key.run_id, wanted, blobs)
        except Missing:
            return None
        if body.core_blob is not None:
            body = msgspec.structs.replace(body, core=decode_core(read[body.core_blob]))
        merged: dict[PageRef, Entries] = {ref: pages[ref] if ref in pages else known[ref] for ref in refs}
        return Document(version, token, body, merged)

    def _read(
        self, run_id: str, refs: Iterable[PageRef], blobs: Sequence[Blob]
    ) -> tuple[dict[PageRef, Entries], dict[Blob, bytes]]:
        """Raises `Missing` for what is not there, or not of the generation that is asked for."""
        refs = list(refs)
        numbered = {keys.page(ref.number): ref for ref in refs if ref.blob is None}
        values, read = self._fetch(run_id, list(numbered), blobs)
        pages: dict[PageRef, Entries] = {}
        for sort, ref in numbered.items():
            item = values.get(sort)
            if item is None or item.generation != ref.generation:
                raise Missing(sort)
            pages[ref] = decode_entries(item.value or b"")
        for ref in refs:
            if ref.blob is not None:
                pages[ref] = decode_entries(read[ref.blob])
        return pages, read

    def _fetch(
        self, run_id: str, sorts: Sequence[str], blobs: Sequence[Blob]
    ) -> tuple[dict[str, PartItem], dict[Blob, bytes]]:
        chunks = {blob: [keys.chunk(blob, number) for number in range(blob.chunks)] for blob in blobs}
        wanted = [*sorts, *(sort for its in chunks.values() for sort in its)]
        found = self._database.batch((PartItem, run_id, sort) for sort in wanted)
        items = {sort: PartItem.from_raw_data(dict(raw)) for (_, sort), raw in found.items()}
        return items, {blob: joined(items, its) for blob, its in chunks.items()}

    def blobs(self, partition: str, blobs: Sequence[Blob]) -> dict[Blob, bytes]:
        """Values that are items of their own. Raises `Missing`."""
        return self._fetch(partition, (), blobs)[1]


def joined(items: Mapping[str, PartItem], chunks: Sequence[str]) -> bytes:
    """Raises `Missing`."""
    values = []
    for sort in chunks:
        item = items.get(sort)
        if item is None:
            raise Missing(sort)
        values.append(item.value or b"")
    return b"".join(values)
