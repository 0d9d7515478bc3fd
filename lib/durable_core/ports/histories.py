"""Reading histories. They are written by `Executions.commit`, together with the state they belong to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class BranchRange:
    """The part of a branch that a history uses: events `first_event_id` (included) to `end_event_id` (excluded)."""

    branch_id: str
    first_event_id: int
    end_event_id: int


class Histories(Protocol):
    def read(
        self, span: BranchRange, *, nodes_max: int, reverse: bool = False
    ) -> Sequence[tuple[int, bytes]]:
        """Nodes as (first event ID, serialized `History`) that overlap the range, in order (or in reverse order).

        Nodes are returned whole: the first one may begin before the range and the last one may end after it.
        Of nodes with the same first event ID the one with the highest transaction ID counts.
        """
