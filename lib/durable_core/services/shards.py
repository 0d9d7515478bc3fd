"""Which shards this process may write, as far as it knows.

A shard is taken by the first commit that writes to it: the claim is part of that transaction and costs nothing of its
own. So what a process reads of a shard before is the range ID that it will ask to follow. What does not live here: the
states that owning a shard makes valid (`unit_of_work`).
A newcomer's trap: holding a shard is a belief. Every commit checks it, and every decision that ends without a commit
must be made on what was read for it.
"""

from dataclasses import dataclass

from durable_core.model.ids import TASK_ID_SEQUENCE_MAX, task_id

SEQUENCE_RESERVE = 1_000_000
"""Numbers that one transition may need: a shard with fewer left is claimed anew."""


@dataclass(slots=True)
class Shard:
    """`range_id` is the one to write with: ours once the shard is held, else the one that our first commit claims.

    `sequence` is the last number given to a task. `seen_at` is when it last was ours for certain, in ns; `settled` says
    that nobody else took it between two of our looks at it.
    """

    number: int
    range_id: int
    held: bool = False
    sequence: int = 0
    seen_at: int = 0
    settled: bool = False

    def next_task_id(self) -> int:
        self.sequence += 1
        return task_id(self.range_id, self.sequence)

    def committed(self, now: int) -> None:
        """A commit begun at `now` succeeded."""
        self.held = True
        self.seen_at = now


class Shards:
    def __init__(self) -> None:
        self._shards: dict[int, Shard] = {}

    def get(self, number: int) -> Shard | None:
        shard = self._shards.get(number)
        if shard is not None and shard.sequence > TASK_ID_SEQUENCE_MAX - SEQUENCE_RESERVE:
            shard = Shard(number, shard.range_id + (1 if shard.held else 0))
            self._shards[number] = shard
        return shard

    def seen(self, number: int, range_id: int, now: int) -> Shard:
        """The shard's range ID was read as `range_id` (0: nobody ever took it) at `now`."""
        shard = self._shards.get(number)
        if shard is not None and range_id == shard.range_id and shard.held:
            shard.settled = True
            shard.seen_at = now
        elif shard is None or shard.held or range_id + 1 != shard.range_id:
            shard = self._shards[number] = Shard(number, range_id + 1)
        return shard

    def taken(self, number: int, range_id: int) -> Shard:
        """The shard was taken apart from any commit."""
        shard = self._shards[number] = Shard(number, range_id, held=True)
        return shard

    def lost(self, number: int) -> None:
        """Somebody else has it, or may have: what is known of it is dropped."""
        self._shards.pop(number, None)
