"""Queries in flight as short-lived items: the `Queries` port.

A query is a partition: one item says whose it is and when it is over, and chunks hold the request and, later, the
answer, which may each be larger than an item. A mark in the run's own partition says that the run has it pending.
A newcomer's trap: an answer's chunks are there before the item says that there is an answer, and the first who says so
wins.
"""

import hashlib
from collections.abc import Sequence

import msgspec

from durable_core.adapters.aws.dynamo_database import Database
from durable_core.adapters.aws.dynamo_items import QueryItem
from durable_core.model.ids import RunKey
from durable_core.model.times import MINUTE, SECOND
from durable_core.ports.clock import Clock
from durable_core.ports.queries import PendingQuery, QueryAnswer

CHUNK_BYTES = 350 * 1024
KEPT = 10 * MINUTE
"""How long after its time an item may still be there: DynamoDB removes it some time after that."""
HEAD = "head"
REQUEST = "request"
HASH_BYTES = 16

_encode = msgspec.msgpack.Encoder().encode
_decode_key = msgspec.msgpack.Decoder(RunKey).decode


class DynamoQueries:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def put(self, query: PendingQuery) -> None:
        pk = _partition(query.query_id)
        expires_at = (query.expires_at + KEPT) // SECOND
        chunks = self._put_chunks(pk, REQUEST, query.request, expires_at)
        # The mark sorts by the time of asking: pending queries come oldest first.
        mark = f"{self._clock.now():020d}/{query.query_id}"
        head = QueryItem(
            pk=pk,
            sk=HEAD,
            query_id=mark,
            run=_encode(query.run),
            deadline=query.expires_at,
            chunks=chunks,
            expires_at=expires_at,
        )
        self._database.put(head)
        self._database.put(
            QueryItem(
                pk=_marks(query.run),
                sk=mark,
                query_id=query.query_id,
                deadline=query.expires_at,
                expires_at=expires_at,
            )
        )

    def get(self, query_id: str) -> PendingQuery | None:
        head = self._head(query_id)
        if head is None or head.value:
            return None
        request = self._chunks(head.pk, REQUEST, int(head.chunks or 0))
        if request is None:
            return None
        return PendingQuery(query_id, _decode_key(head.run), request, int(head.deadline or 0))

    def pending(self, run: RunKey) -> Sequence[PendingQuery]:
        now = self._clock.now()
        marks = [mark for mark in self._database.query(QueryItem, _marks(run)) if (mark.deadline or 0) > now]
        found = (self.get(mark.query_id or "") for mark in marks)
        return [query for query in found if query is not None]

    def answer(self, query_id: str, answer: QueryAnswer) -> bool:
        head = self._head(query_id)
        if head is None or head.value:
            return False
        # A name that follows from the answer, for two may answer at the same time.
        name = hashlib.blake2b(answer.answer, digest_size=HASH_BYTES).hexdigest()
        chunks = self._put_chunks(head.pk, name, answer.answer, int(head.expires_at or 0))
        recorded = self._database.change(
            QueryItem,
            head.pk,
            HEAD,
            [
                QueryItem.value.set(name.encode()),
                QueryItem.chunks.set(chunks),
                QueryItem.lost.set(answer.lost),
            ],
            QueryItem.pk.exists() & QueryItem.value.does_not_exist(),
        )
        if recorded:
            self._database.remove(QueryItem, _marks(_decode_key(head.run)), head.query_id or "")
        return recorded

    def take_answer(self, query_id: str) -> QueryAnswer | None:
        head = self._head(query_id)
        if head is None or not head.value:
            return None
        answer = self._chunks(head.pk, head.value.decode(), int(head.chunks or 0))
        if answer is None:
            return None
        self._database.remove(QueryItem, head.pk, HEAD)
        return QueryAnswer(answer, head.lost or "")

    def remove(self, query_id: str) -> None:
        head = self._database.get(QueryItem, _partition(query_id), HEAD)
        if head is None:
            return
        self._database.remove(QueryItem, head.pk, HEAD)
        if not head.value:
            self._database.remove(QueryItem, _marks(_decode_key(head.run)), head.query_id or "")

    def _head(self, query_id: str) -> QueryItem | None:
        head = self._database.get(QueryItem, _partition(query_id), HEAD)
        return None if head is None or (head.deadline or 0) <= self._clock.now() else head

    def _put_chunks(self, pk: str, name: str, data: bytes, expires_at: int) -> int:
        parts = [data[at : at + CHUNK_BYTES] for at in range(0, len(data), CHUNK_BYTES)]
        self._database.put_all(
            [
                QueryItem(pk=pk, sk=_chunk(name, number), value=part, expires_at=expires_at)
                for number, part in enumerate(parts)
            ]
        )
        return len(parts)

    def _chunks(self, pk: str, name: str, count: int) -> bytes | None:
        sorts = [_chunk(name, number) for number in range(count)]
        found = self._database.batch((QueryItem, pk, sort) for sort in sorts)
        if len(found) < count:
            return None
        return b"".join(found[pk, sort]["value"]["B"] for sort in sorts)


def _partition(query_id: str) -> str:
    return f"query/{query_id}"


def _marks(run: RunKey) -> str:
    return f"queries/{run.run_id}"


def _chunk(name: str, number: int) -> str:
    return f"{name}/{number:04x}"
