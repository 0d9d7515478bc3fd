"""Reading histories: the `Histories` port."""

import sqlite3
from collections.abc import Sequence

from durable_core.adapters.sqlite.errors import translated
from durable_core.ports.histories import BranchRange

# The node that holds the range's first event begins at it or is the last one before it.
_SELECT_START = (
    "SELECT first_event_id, count, max(transaction_id) FROM history_nodes"
    " WHERE branch_id = ? AND first_event_id <= ? GROUP BY first_event_id ORDER BY first_event_id DESC LIMIT 1"
)
# With max() and no other aggregate, SQLite takes the other columns from the row that has the maximum.
_SELECT_NODES = (
    "SELECT first_event_id, events, max(transaction_id) FROM history_nodes"
    " WHERE branch_id = ? AND first_event_id >= ? AND first_event_id < ?"
    " GROUP BY first_event_id ORDER BY first_event_id {order} LIMIT ?"
)
_SELECT_FORWARD = _SELECT_NODES.format(order="ASC")
_SELECT_REVERSE = _SELECT_NODES.format(order="DESC")


class SqliteHistories:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @translated
    def read(
        self, span: BranchRange, *, nodes_max: int, reverse: bool = False
    ) -> Sequence[tuple[int, bytes]]:
        first = span.first_event_id
        if first > 1:
            first = self._start(span.branch_id, first)
        found = self._connection.execute(
            _SELECT_REVERSE if reverse else _SELECT_FORWARD,
            (span.branch_id, first, span.end_event_id, nodes_max),
        )
        return [(first_event_id, events) for first_event_id, events, _ in found]

    def _start(self, branch_id: str, event_id: int) -> int:
        found = self._connection.execute(_SELECT_START, (branch_id, event_id)).fetchone()
        if found is None:
            return event_id
        first_event_id, count, _ = found
        return int(first_event_id) if first_event_id + count > event_id else event_id
