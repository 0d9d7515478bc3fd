"""Who polls which queue, in short-lived items: the `Pollers` port.

All of it are hints. They are written at most every few seconds a queue and process, and what was read lately is
believed, so that neither polling nor dispatching pays for them each time.
A newcomer's trap: `now` may lie ahead, for a poller that promises to stay. A time never moves back but by `forget`.
"""

import hashlib
from collections import OrderedDict
from typing import TypeVar

from durable_core.adapters.aws.dynamo_database import Database
from durable_core.adapters.aws.dynamo_items import PollerItem
from durable_core.model.ids import QueueKey
from durable_core.model.times import MINUTE, SECOND
from durable_core.ports.clock import Clock

V = TypeVar("V")

WRITTEN_EVERY = 3 * SECOND
BELIEVED_FOR = 2 * SECOND
KEPT = 10 * MINUTE
QUEUES_KNOWN = 1_000
SEEN = "seen"
HASH_BYTES = 20


class DynamoPollers:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._written: OrderedDict[QueueKey, int] = OrderedDict()
        # What was read, and when.
        self._read: OrderedDict[QueueKey, tuple[int, int]] = OrderedDict()

    def seen(self, queue: QueueKey, identity: str, now: int) -> None:
        if now - self._written.get(queue, 0) < WRITTEN_EVERY and queue in self._written:
            return
        item = PollerItem(pk=_partition(queue), sk=SEEN, seen_at=now, expires_at=(now + KEPT) // SECOND)
        self._database.put(item, PollerItem.pk.does_not_exist() | (PollerItem.seen_at < now))
        _keep(self._written, queue, now)
        self._read.pop(queue, None)

    def last_seen(self, queue: QueueKey) -> int:
        now = self._clock.now()
        seen_at, read_at = self._read.get(queue, (0, 0))
        if seen_at and now - read_at < BELIEVED_FOR:
            return seen_at
        item = self._database.get(PollerItem, _partition(queue), SEEN)
        seen_at = 0 if item is None else int(item.seen_at)
        _keep(self._read, queue, (seen_at, now))
        return seen_at

    def forget(self, queue: QueueKey) -> None:
        self._written.pop(queue, None)
        self._read.pop(queue, None)
        self._database.remove(PollerItem, _partition(queue), SEEN)


def _partition(queue: QueueKey) -> str:
    named = "\0".join((queue.namespace_id, str(int(queue.kind)), queue.name))
    return "poller/" + hashlib.blake2b(named.encode(), digest_size=HASH_BYTES).hexdigest()


def _keep(known: OrderedDict[QueueKey, V], queue: QueueKey, value: V) -> None:
    known[queue] = value
    known.move_to_end(queue)
    if len(known) > QUEUES_KNOWN:
        known.popitem(last=False)
