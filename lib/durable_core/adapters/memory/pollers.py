"""Who polls which queue: the `Pollers` port.

The last poll of each identity counts. What was not polled for long (sticky queues above all, which get a new name with
every worker) is dropped from time to time.
"""

from collections.abc import Sequence

from durable_core.model.ids import QueueKey
from durable_core.ports.task_queues import Poller

FORGET_AFTER_NS = 5 * 60 * 1_000_000_000
QUEUES_BEFORE_SWEEP = 1_000
IDENTITIES_BEFORE_SWEEP = 100


class _Queue:
    """The pollers of one queue by identity, and when anybody last polled it."""

    __slots__ = ("by_identity", "last", "sweep_at_size")

    def __init__(self) -> None:
        self.by_identity: dict[str, Poller] = {}
        self.last = 0
        self.sweep_at_size = IDENTITIES_BEFORE_SWEEP

    def seen(self, poller: Poller) -> None:
        self.by_identity[poller.identity] = poller
        self.last = max(self.last, poller.last_access)
        if len(self.by_identity) >= self.sweep_at_size:
            recent = [
                one for one in self.by_identity.values() if one.last_access > self.last - FORGET_AFTER_NS
            ]
            self.by_identity = {one.identity: one for one in recent}
            self.sweep_at_size = 2 * len(recent) + IDENTITIES_BEFORE_SWEEP


class MemoryPollers:
    def __init__(self) -> None:
        self._queues: dict[QueueKey, _Queue] = {}
        self._sweep_at_size = QUEUES_BEFORE_SWEEP

    def seen(self, queue: QueueKey, identity: str, now: int, build_id: str = "") -> None:
        known = self._queues.get(queue)
        if known is None:
            known = self._queues[queue] = _Queue()
            self._sweep(now)
        known.seen(Poller(identity, now, build_id))

    def last_seen(self, queue: QueueKey) -> int:
        known = self._queues.get(queue)
        return 0 if known is None else known.last

    def pollers(self, queue: QueueKey, since: int) -> Sequence[Poller]:
        known = self._queues.get(queue)
        if known is None:
            return []
        recent = [one for one in known.by_identity.values() if one.last_access >= since]
        return sorted(recent, key=lambda one: one.last_access, reverse=True)

    def forget(self, queue: QueueKey) -> None:
        """The pollers stay known to whoever asks for them; nobody waits for their next poll."""
        known = self._queues.get(queue)
        if known is not None:
            known.last = 0

    def _sweep(self, now: int) -> None:
        if len(self._queues) < self._sweep_at_size:
            return
        self._queues = {name: one for name, one in self._queues.items() if one.last > now - FORGET_AFTER_NS}
        self._sweep_at_size = 2 * len(self._queues) + QUEUES_BEFORE_SWEEP
