"""Who polls which queue, in short-lived items: the `Pollers` port.

All of it are hints. They are written at most every few seconds a queue and process, and what was read lately is
believed, so that neither polling nor dispatching pays for them each time.
A newcomer's trap: `now` may lie ahead, for a poller that promises to stay. A time never moves back but by `forget`.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import TypeVar

from durable_core.adapters.aws.dynamo_database import Database
from durable_core.adapters.aws.dynamo_items import PollerItem
from durable_core.model.ids import QueueKey
from durable_core.model.times import MINUTE, SECOND
from durable_core.ports.clock import Clock
from durable_core.ports.task_queues import Poller

K = TypeVar("K")
V = TypeVar("V")

WRITTEN_EVERY = 3 * SECOND
BELIEVED_FOR = 2 * SECOND
KEPT = 10 * MINUTE
QUEUES_KNOWN = 1_000
HASH_BYTES = 20


class DynamoPollers:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._written: OrderedDict[tuple[QueueKey, str], int] = OrderedDict()
        # What was read, and when.
        self._read: OrderedDict[QueueKey, tuple[int, int]] = OrderedDict()

    def seen(self, queue: QueueKey, identity: str, now: int, build_id: str = "") -> None:
        name = (queue, identity)
        if now - self._written.get(name, 0) < WRITTEN_EVERY and name in self._written:
            return
        item = PollerItem(
            pk=_partition(queue),
            sk=_hash(identity),
            seen_at=now,
            identity=identity,
            build_id=build_id or None,
            expires_at=(now + KEPT) // SECOND,
        )
        older = PollerItem.pk.does_not_exist() | PollerItem.gone.exists() | (PollerItem.seen_at < now)
        self._database.put(item, older)
        _keep(self._written, name, now)
        self._read.pop(queue, None)

    def pollers(self, queue: QueueKey, since: int) -> Sequence[Poller]:
        found = [Poller(item.identity, int(item.seen_at), item.build_id or "") for item in self._items(queue)]
        recent = [poller for poller in found if poller.last_access >= since]
        return sorted(recent, key=lambda poller: poller.last_access, reverse=True)

    def last_seen(self, queue: QueueKey) -> int:
        now = self._clock.now()
        seen_at, read_at = self._read.get(queue, (0, 0))
        if seen_at and now - read_at < BELIEVED_FOR:
            return seen_at
        seen_at = max((int(item.seen_at) for item in self._items(queue) if not item.gone), default=0)
        _keep(self._read, queue, (seen_at, now))
        return seen_at

    def forget(self, queue: QueueKey) -> None:
        now = self._clock.now()
        for item in self._items(queue):
            item.gone = 1
            item.seen_at = min(int(item.seen_at), now)
            self._database.put(item)
            self._written.pop((queue, item.identity), None)
        self._read.pop(queue, None)

    def _items(self, queue: QueueKey) -> Iterator[PollerItem]:
        return self._database.query(PollerItem, _partition(queue))


def _partition(queue: QueueKey) -> str:
    return "poller/" + _hash("\0".join((queue.namespace_id, str(int(queue.kind)), queue.name)))


def _hash(name: str) -> str:
    return hashlib.blake2b(name.encode(), digest_size=HASH_BYTES).hexdigest()


def _keep(known: OrderedDict[K, V], queue: K, value: V) -> None:
    known[queue] = value
    known.move_to_end(queue)
    if len(known) > QUEUES_KNOWN:
        known.popitem(last=False)
