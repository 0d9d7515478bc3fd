"""All ports of a deployment on one SQLite database: a file, or memory.

`open_store` is the way in. One process, one connection, one thread at a time: the embedded server calls the adapter
from its event loop, so nothing here locks or waits. A newcomer's trap: the file belongs to the process that has it
open, to the exclusion of every other one, readers included.
"""

from durable_core.adapters.sqlite.catalog import SqliteCatalog
from durable_core.adapters.sqlite.errors import CannotOpen, DatabaseInUse, NewerFormat, NotOurDatabase
from durable_core.adapters.sqlite.executions import SqliteExecutions
from durable_core.adapters.sqlite.histories import SqliteHistories
from durable_core.adapters.sqlite.store import Store, open_store
from durable_core.adapters.sqlite.task_queues import SqliteTaskQueues
from durable_core.adapters.sqlite.wake_ups import SqliteWakeUps

__all__ = [
    "CannotOpen",
    "DatabaseInUse",
    "NewerFormat",
    "NotOurDatabase",
    "SqliteCatalog",
    "SqliteExecutions",
    "SqliteHistories",
    "SqliteTaskQueues",
    "SqliteWakeUps",
    "Store",
    "open_store",
]
