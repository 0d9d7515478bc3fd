"""Which row a run has: the integer that everything of the run is stored under.

The cache only spares an index look-up; a run that is not in it is looked up. Rows are remembered when a transaction
writes them, so whoever rolls a transaction back must `forget` the runs it touched.
"""

import sqlite3
from dataclasses import dataclass, field

from durable_core.model.ids import RunKey

ROWS_CACHED = 20_000


@dataclass(slots=True)
class RunRow:
    row: int
    branches: set[str] = field(default_factory=set)


class RunRows:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._rows: dict[RunKey, RunRow] = {}

    def find(self, key: RunKey) -> RunRow | None:
        known = self._rows.get(key)
        if known is not None:
            return known
        found = self._connection.execute(
            "SELECT run FROM runs WHERE run_id = ? AND workflow_id = ? AND namespace_id = ?",
            (key.run_id, key.workflow_id, key.namespace_id),
        ).fetchone()
        if found is None:
            return None
        branches = self._connection.execute("SELECT branch_id FROM run_branches WHERE run = ?", found)
        return self.remember(key, RunRow(found[0], {branch_id for (branch_id,) in branches}))

    def remember(self, key: RunKey, row: RunRow) -> RunRow:
        if len(self._rows) >= ROWS_CACHED:
            del self._rows[next(iter(self._rows))]
        self._rows[key] = row
        return row

    def forget(self, key: RunKey) -> None:
        self._rows.pop(key, None)
