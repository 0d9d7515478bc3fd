"""Opening a database file: whose it is, who has it, and what is refused without being touched."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from durable_core.adapters.decorators import ManualClock
from durable_core.adapters.sqlite import CannotOpen, DatabaseInUse, NewerFormat, NotOurDatabase, open_store
from durable_core.ports.catalog import NamespaceRecord
from durable_core.schema.formats import STORED_FORMAT

SHOP = NamespaceRecord("id", "shop", 1, b"")
# A process that has opened the file, written to it, and neither closes it nor ends by itself.
HOLDER = """
import sys, time
from durable_core.adapters.decorators import ManualClock
from durable_core.adapters.sqlite import open_store
from durable_core.ports.catalog import NamespaceRecord
store = open_store(sys.argv[1], ManualClock())
store.catalog.create_namespace(NamespaceRecord("id", "shop", 1, b""))
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "perdure.db"


def opened(path: Path) -> None:
    open_store(str(path), ManualClock()).close()


def test_another_process_is_refused_and_the_message_names_the_file(path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "open\n"
            with pytest.raises(DatabaseInUse, match=str(path)):
                opened(path)
        finally:
            holder.send_signal(signal.SIGKILL)
        holder.wait()
    # A killed process leaves its lock to nobody, and what it committed to the next one.
    store = open_store(str(path), ManualClock())
    assert store.catalog.namespace("shop") == SHOP
    store.close()


def test_the_same_process_is_refused_a_second_time(path: Path) -> None:
    first = open_store(str(path), ManualClock())
    with pytest.raises(DatabaseInUse):
        opened(path)
    first.catalog.create_namespace(SHOP)
    first.close()
    opened(path)


def test_a_reader_that_is_no_store_is_shut_out_too(path: Path) -> None:
    first = open_store(str(path), ManualClock())
    reader = sqlite3.connect(path, timeout=0)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        reader.execute("SELECT * FROM runs")
    reader.close()
    first.close()


def test_a_newer_format_is_refused_and_left_as_it_is(path: Path) -> None:
    opened(path)
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {STORED_FORMAT + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(NewerFormat, match=f"{path} has format {STORED_FORMAT + 1}"):
        opened(path)
    assert path.read_bytes() == before


def test_the_same_format_is_resumed(path: Path) -> None:
    store = open_store(str(path), ManualClock())
    store.catalog.create_namespace(SHOP)
    store.close()
    store = open_store(str(path), ManualClock())
    assert store.catalog.namespace("shop") == SHOP
    store.close()


def test_a_database_of_the_first_format_is_brought_to_this_one(path: Path) -> None:
    store = open_store(str(path), ManualClock())
    store.catalog.create_namespace(SHOP)
    store.close()
    with sqlite3.connect(path) as connection:
        connection.executescript("DROP TABLE shared_branches; PRAGMA user_version = 1;")
    connection.close()
    store = open_store(str(path), ManualClock())
    assert store.catalog.namespace("shop") == SHOP
    assert store._connection.execute("SELECT count(*) FROM shared_branches").fetchone() == (0,)
    assert store._connection.execute("PRAGMA user_version").fetchone() == (STORED_FORMAT,)
    store.close()


def test_another_programs_database_is_refused_and_left_as_it_is(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(NotOurDatabase, match=str(path)):
        opened(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(path: Path) -> None:
    text = b"Dear diary, this is not a database. " * 200
    path.write_bytes(text)
    with pytest.raises(NotOurDatabase, match=str(path)):
        opened(path)
    assert path.read_bytes() == text


def test_an_empty_file_becomes_a_database(path: Path) -> None:
    path.touch()
    opened(path)
    assert path.stat().st_size > 0


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "perdure.db"
    with pytest.raises(CannotOpen, match=f"{missing} cannot be opened: the directory .* does not exist"):
        opened(missing)


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(CannotOpen, match=f"{tmp_path} cannot be opened: it is a directory"):
        opened(tmp_path)


@pytest.mark.parametrize("durable, level", [(True, 2), (False, 1)])
def test_commits_wait_for_the_disk_unless_told_otherwise(path: Path, durable: bool, level: int) -> None:
    store = open_store(str(path), ManualClock(), durable=durable)
    assert store._connection.execute("PRAGMA synchronous").fetchone() == (level,)
    assert store._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    store.close()


def test_closing_leaves_one_file(path: Path) -> None:
    store = open_store(str(path), ManualClock())
    store.catalog.create_namespace(SHOP)
    store.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_databases_in_memory_are_apart() -> None:
    first, second = open_store(None, ManualClock()), open_store(None, ManualClock())
    first.catalog.create_namespace(SHOP)
    assert second.catalog.namespace("shop") is None
    first.close()
    second.close()
