"""Who polls which queue: the `Pollers` port.

Only the last poll of a queue counts. Queues that nobody has polled for long (sticky queues above all, which get a new
name with every worker) are dropped from time to time.
"""

from durable_core.model.ids import QueueKey

FORGET_AFTER_NS = 5 * 60 * 1_000_000_000
QUEUES_BEFORE_SWEEP = 1_000


class MemoryPollers:
    def __init__(self) -> None:
        self._seen: dict[QueueKey, int] = {}
        self._sweep_at_size = QUEUES_BEFORE_SWEEP

    def seen(self, queue: QueueKey, identity: str, now: int) -> None:
        self._seen[queue] = now
        if len(self._seen) >= self._sweep_at_size:
            self._seen = {name: at for name, at in self._seen.items() if at > now - FORGET_AFTER_NS}
            self._sweep_at_size = 2 * len(self._seen) + QUEUES_BEFORE_SWEEP

    def last_seen(self, queue: QueueKey) -> int:
        return self._seen.get(queue, 0)

    def forget(self, queue: QueueKey) -> None:
        self._seen.pop(queue, None)
