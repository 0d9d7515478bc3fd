"""Armed wake-ups in memory, with the stored ones behind them: the `WakeUps` port.

`_armed` mirrors the table; the heap orders it and may hold entries that are no longer true, which are dropped when they
come up. `arm` does nothing here: the commit itself has said what is armed, and whoever waits is told by the edge.
"""

import heapq
import sqlite3
from collections.abc import Sequence

from durable_core.model.ids import RunKey
from durable_core.ports.wake_ups import WakeUp

STALE_ENTRIES_MAX = 10_000


class SqliteWakeUps:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._armed: dict[RunKey, int] = {}
        # When each one comes up: its own time, or a later one while it is postponed.
        self._comes_up: dict[RunKey, int] = {}
        # The number in the middle only settles ties, for keys have no order.
        self._heap: list[tuple[int, int, RunKey]] = []
        self._pushed = 0

    def recover(self) -> None:
        """Load what is armed, as at the start of a process."""
        stored = self._connection.execute(
            "SELECT namespace_id, workflow_id, run_id, due FROM wake_ups JOIN runs USING (run)"
        ).fetchall()
        for namespace_id, workflow_id, run_id, due in stored:
            self.changed(RunKey(namespace_id, workflow_id, run_id), due)

    def changed(self, run: RunKey, due: int) -> None:
        """A commit armed the run at `due`, or disarmed it with 0."""
        if due == 0:
            self._armed.pop(run, None)
            self._comes_up.pop(run, None)
            return
        if self._armed.get(run) == due:
            return
        self._armed[run] = due
        self._push(due, run)
        if len(self._heap) > 2 * len(self._armed) + STALE_ENTRIES_MAX:
            self._heap = [(at, number, key) for number, (key, at) in enumerate(self._comes_up.items())]
            self._pushed = len(self._heap)
            heapq.heapify(self._heap)

    def postpone(self, wake_up: WakeUp, due: int) -> None:
        """Bring an armed wake-up again only at `due`; what is stored stays as it is."""
        if self._armed.get(wake_up.run) == wake_up.due:
            self._push(due, wake_up.run)

    def is_armed(self, run: RunKey) -> bool:
        return run in self._armed

    def arm(self, wake_up: WakeUp) -> None:
        """Known already from the commit."""

    def due(self, now: int, limit: int) -> Sequence[WakeUp]:
        found: list[WakeUp] = []
        again: list[tuple[int, RunKey]] = []
        while len(found) < limit:
            due = self.next_due()
            if due is None or due > now:
                break
            _, _, run = heapq.heappop(self._heap)
            found.append(WakeUp(run, self._armed[run]))
            again.append((due, run))
            del self._comes_up[run]
        for due, run in again:
            self._push(due, run)
        return found

    def next_due(self) -> int | None:
        while self._heap:
            due, _, run = self._heap[0]
            if self._comes_up.get(run) == due:
                return due
            heapq.heappop(self._heap)
        return None

    def _push(self, due: int, run: RunKey) -> None:
        self._comes_up[run] = due
        self._pushed += 1
        heapq.heappush(self._heap, (due, self._pushed, run))
