"""Opening the database: the lock, the format, the settings.

What does not live here: the tables' layout (`tables`) and what is done with them.
A newcomer's trap: exclusive locking must be set before the first access in WAL mode, or SQLite builds its index of the
log in shared memory and lets other processes in.
"""

import sqlite3
from pathlib import Path

from durable_core.adapters.sqlite.errors import CannotOpen, DatabaseInUse, NewerFormat, NotOurDatabase
from durable_core.adapters.sqlite.tables import APPLICATION_ID, TABLES, UPGRADES
from durable_core.schema.formats import STORED_FORMAT

IN_MEMORY = ":memory:"
STATEMENTS_CACHED = 256
PAGE_CACHE_KIB = 16_384
WAL_PAGES_BEFORE_CHECKPOINT = 2_000


def connect(path: str | None, *, durable: bool) -> sqlite3.Connection:
    """A connection that owns the database alone; a new database gets its tables.

    `durable` waits for the disk at every commit, so that a power cut loses nothing acknowledged; without it only the
    death of the process is covered. Raises `DatabaseInUse`, `NewerFormat`, `NotOurDatabase` or `CannotOpen`.
    """
    name = path or IN_MEMORY
    try:
        connection = sqlite3.connect(
            name,
            timeout=0,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=STATEMENTS_CACHED,
        )
    except sqlite3.OperationalError as error:
        raise CannotOpen(name, _why_not(name, error)) from error
    try:
        _lock(connection)
        _check(connection, name)
        _tune(connection, durable=durable)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise _translated(name, error) from error
    except (NewerFormat, NotOurDatabase):
        connection.close()
        raise
    return connection


def _lock(connection: sqlite3.Connection) -> None:
    """Take the file for this connection's life; an exclusive connection keeps the lock that it once got."""
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("BEGIN EXCLUSIVE")
    connection.execute("COMMIT")


def _check(connection: sqlite3.Connection, name: str) -> None:
    """Before the first write: whose file this is, and of which format. An empty one becomes ours."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application == APPLICATION_ID:
        if found > STORED_FORMAT:
            raise NewerFormat(name, found, STORED_FORMAT)
        for version in range(found, STORED_FORMAT):
            connection.executescript(
                f"BEGIN IMMEDIATE; {UPGRADES[version]} PRAGMA user_version = {version + 1}; COMMIT;"
            )
        return
    if objects or application:
        raise NotOurDatabase(name, "it holds another program's tables")
    # The WAL mode cannot be entered inside a transaction, and the tables must be there whole or not at all.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(
        f"BEGIN IMMEDIATE; {TABLES} PRAGMA application_id = {APPLICATION_ID};"
        f" PRAGMA user_version = {STORED_FORMAT}; COMMIT;"
    )


def _tune(connection: sqlite3.Connection, *, durable: bool) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES_BEFORE_CHECKPOINT}")
    connection.execute(f"PRAGMA cache_size = -{PAGE_CACHE_KIB}")
    connection.execute("PRAGMA temp_store = MEMORY")
    # Distributions build SQLite to overwrite what is deleted with zeros; here that only doubles the writing.
    connection.execute("PRAGMA secure_delete = OFF")


def _translated(name: str, error: sqlite3.DatabaseError) -> DatabaseInUse | NotOurDatabase | CannotOpen:
    if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return DatabaseInUse(name)
    if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_NOTADB:
        return NotOurDatabase(name, "it is no SQLite file")
    return CannotOpen(name, _why_not(name, error))


def _why_not(name: str, error: sqlite3.DatabaseError) -> str:
    """SQLite's "unable to open database file", in words that say what to do where that can be told."""
    path = Path(name)
    if path.is_dir():
        return "it is a directory"
    if not path.parent.is_dir():
        return f"the directory {path.parent} does not exist"
    return str(error)
