"""One open database with a port in each attribute.

Whoever holds the store calls `flush` about once a second while nothing else is committed, so that tasks that are done
with leave the file, and `close` at the end.
"""

import sqlite3

from durable_core.adapters.sqlite.catalog import SqliteCatalog
from durable_core.adapters.sqlite.connection import connect
from durable_core.adapters.sqlite.executions import SqliteExecutions
from durable_core.adapters.sqlite.histories import SqliteHistories
from durable_core.adapters.sqlite.run_rows import RunRows
from durable_core.adapters.sqlite.task_queues import SqliteTaskQueues
from durable_core.adapters.sqlite.wake_ups import SqliteWakeUps
from durable_core.ports.clock import Clock


class Store:
    def __init__(self, connection: sqlite3.Connection, clock: Clock) -> None:
        self._connection = connection
        rows = RunRows(connection)
        self.task_queues = SqliteTaskQueues(connection, rows, clock)
        self.wake_ups = SqliteWakeUps(connection)
        self.executions = SqliteExecutions(connection, rows, self.task_queues, self.wake_ups)
        self.histories = SqliteHistories(connection)
        self.catalog = SqliteCatalog(connection)

    def recover(self) -> None:
        """Queue the stored tasks and load the armed wake-ups."""
        self.task_queues.recover()
        self.wake_ups.recover()

    def flush(self) -> None:
        """Remove from the file what is done with."""
        self.executions.flush()

    def close(self) -> None:
        self.flush()
        self._connection.close()


def open_store(path: str | None, clock: Clock, *, durable: bool = True) -> Store:
    """The database at `path`, or a new one in memory, with its stored tasks queued and its wake-ups armed.

    `durable` makes every commit wait for the disk: then a power cut, too, loses nothing acknowledged. The clock
    measures the visibility time of received tasks. Raises `DatabaseInUse`, `NewerFormat`, `NotOurDatabase` or
    `CannotOpen`.
    """
    store = Store(connect(path, durable=durable), clock)
    store.recover()
    return store
