"""What the SQLite adapter leaves in its tables, and how it behaves when the database fails under it."""

import sqlite3
from collections.abc import Iterator

import pytest

from durable_core.adapters.decorators import ManualClock
from durable_core.adapters.sqlite import Store, open_store
from durable_core.adapters.sqlite.task_queues import VISIBILITY_NS
from durable_core.adapters.sqlite.wake_ups import STALE_ENTRIES_MAX
from durable_core.model.errors import AmbiguousCommit, StorageError
from durable_core.model.ids import QueueKey, QueueKind, RunKey
from durable_core.model.tasks import Task, WorkflowTask
from durable_core.ports.executions import CurrentRun, CurrentRunWrite, HistoryNode, RunWrite, Transaction

QUEUE = QueueKey("namespace", "orders", QueueKind.WORKFLOW)
RUN = RunKey("namespace", "order-17", "run-1")
TABLES = ("runs", "run_sections", "run_branches", "current_runs", "history_nodes", "tasks", "wake_ups")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(clock: ManualClock) -> Iterator[Store]:
    opened = open_store(None, clock)
    opened.executions.acquire_shard(0, "test")
    yield opened
    opened.close()


def task(task_id: int, run: RunKey = RUN) -> Task:
    return Task(task_id, run.namespace_id, run.workflow_id, run.run_id, "orders", 1, WorkflowTask(2, 1))


def commit(
    store: Store, version: int, *task_ids: int, run: RunKey = RUN, wake_up_at: int | None = None
) -> None:
    write = RunWrite(
        run,
        version,
        b"core",
        {"timers": {"1": b"t"}},
        [HistoryNode(run.run_id, version + 1, version + 1, b"events", 1)],
        [task(task_id, run) for task_id in task_ids],
        wake_up_at,
    )
    moved = CurrentRunWrite(
        run.workflow, None if version == 0 else run.run_id, CurrentRun(run.run_id, True, b"")
    )
    store.executions.commit(Transaction(0, 1, f"{run.run_id}-{version}", [write], moved))


def rows(store: Store, table: str) -> int:
    (count,) = store._connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(count)


def test_a_deleted_task_leaves_the_table_with_the_next_commit(store: Store) -> None:
    commit(store, 0, 1, 2)
    received = store.task_queues.receive(QUEUE)
    assert received is not None
    store.task_queues.delete(received)
    assert rows(store, "tasks") == 2
    commit(store, 1)
    assert rows(store, "tasks") == 1
    assert store.task_queues.deleted_rows == []


def test_the_longest_waiting_task_counts_from_when_it_came(store: Store, clock: ManualClock) -> None:
    assert store.task_queues.waiting_since(QUEUE) == 0
    clock.set(10)
    commit(store, 0, 1)
    clock.set(20)
    commit(store, 1, 2)
    assert store.task_queues.waiting_since(QUEUE) == 10
    first = store.task_queues.receive(QUEUE)
    assert store.task_queues.waiting_since(QUEUE) == 20
    clock.set(20 + VISIBILITY_NS)
    second = store.task_queues.receive(QUEUE)
    assert first is not None
    assert second is not None
    assert store.task_queues.waiting_since(QUEUE) == 10, "it came back"


def test_a_deleted_task_leaves_the_table_with_a_flush(store: Store) -> None:
    commit(store, 0, 1)
    received = store.task_queues.receive(QUEUE)
    assert received is not None
    store.task_queues.delete(received)
    store.flush()
    assert rows(store, "tasks") == 0
    store.flush()


def test_a_task_of_a_deleted_run_takes_none_of_the_run_that_gets_its_row(store: Store) -> None:
    commit(store, 0, 1)
    received = store.task_queues.receive(QUEUE)
    assert received is not None
    store.task_queues.delete(received)
    store.executions.delete_run(RUN, 0, 1)
    commit(store, 0, 1)  # as another shard numbers its tasks, too
    store.flush()
    assert rows(store, "tasks") == 1


def test_a_deleted_run_leaves_every_table_and_its_queue(store: Store) -> None:
    commit(store, 0, 1, 2, wake_up_at=7)
    assert store.task_queues.receive(QUEUE) is not None
    store.executions.delete_run(RUN, 0, 1)
    assert {table: rows(store, table) for table in TABLES} == dict.fromkeys(TABLES, 0)
    assert store.task_queues.backlog(QUEUE) == 0
    assert store.task_queues.receive(QUEUE) is None
    assert store.wake_ups.next_due() is None


def test_tasks_are_received_in_the_order_they_were_committed(store: Store) -> None:
    commit(store, 0, 1, 2)
    commit(store, 1, 3)
    received = [store.task_queues.receive(QUEUE) for _ in range(3)]
    assert [one.task.task_id for one in received if one] == [1, 2, 3]


def test_a_task_stays_invisible_for_just_the_visibility_time(store: Store, clock: ManualClock) -> None:
    commit(store, 0, 1)
    assert store.task_queues.receive(QUEUE) is not None
    clock.advance(VISIBILITY_NS - 1)
    assert store.task_queues.receive(QUEUE) is None
    clock.advance(1)
    assert store.task_queues.receive(QUEUE) is not None


def test_queues_that_ran_empty_take_no_memory(store: Store) -> None:
    for number in range(5):
        run = RunKey("namespace", f"order-{number}", f"run-{number}")
        sticky = QueueKey("namespace", f"sticky-{number}", QueueKind.WORKFLOW)
        emitted = Task(
            number + 1, "namespace", run.workflow_id, run.run_id, sticky.name, 1, WorkflowTask(2, 1)
        )
        store.executions.commit(Transaction(0, 1, f"{number}", [RunWrite(run, 0, b"", tasks=[emitted])]))
        received = store.task_queues.receive(sticky)
        assert received is not None
        store.task_queues.delete(received)
    queues = store.task_queues
    assert (queues._waiting, queues._known, queues._in_flight) == ({}, {}, {})


def test_rearming_for_ever_takes_bounded_memory(store: Store) -> None:
    for due in range(3 * STALE_ENTRIES_MAX, 0, -1):
        store.wake_ups.changed(RUN, due)
    assert len(store.wake_ups._heap) <= STALE_ENTRIES_MAX + 3
    assert [wake_up.due for wake_up in store.wake_ups.due(1 << 60, 10)] == [1]


def test_text_that_cannot_be_stored_leaves_no_transaction_behind(store: Store) -> None:
    lone_surrogate = RunWrite(RUN, 0, b"core", {"timers": {"\ud800": b""}})
    with pytest.raises(UnicodeEncodeError):
        store.executions.commit(Transaction(0, 1, "token", [lone_surrogate]))
    assert store.executions.load(RUN) is None
    commit(store, 0)
    assert rows(store, "runs") == 1


def fill_the_disk(store: Store) -> None:
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count = {pages}")


def test_a_full_disk_refuses_the_whole_transaction_and_later_ones_succeed(store: Store) -> None:
    fill_the_disk(store)
    large = RunWrite(RUN, 0, bytes(1_000_000), {"timers": {"1": b""}}, tasks=[task(1)])
    with pytest.raises(StorageError, match="full"):
        store.executions.commit(Transaction(0, 1, "token", [large]))
    assert {table: rows(store, table) for table in TABLES} == dict.fromkeys(TABLES, 0)
    assert store.task_queues.receive(QUEUE) is None
    store._connection.execute("PRAGMA max_page_count = 1000000")
    store.executions.commit(Transaction(0, 1, "token", [large]))
    assert rows(store, "runs") == 1


def test_a_commit_that_fails_on_its_way_to_the_disk_is_ambiguous(store: Store) -> None:
    # A deferred constraint is the one failure of COMMIT itself that can be had without breaking a disk.
    connection = store._connection
    connection.execute("PRAGMA foreign_keys = ON")
    connection.executescript(
        "CREATE TABLE parent (id INTEGER PRIMARY KEY);"
        "CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED);"
        "CREATE TRIGGER orphan AFTER INSERT ON runs BEGIN INSERT INTO child VALUES (1); END;"
    )
    with pytest.raises(AmbiguousCommit):
        commit(store, 0, 1)
    assert not connection.in_transaction
    assert store.task_queues.receive(QUEUE) is None
    connection.execute("DROP TRIGGER orphan")
    commit(store, 0, 1)
    assert store.task_queues.receive(QUEUE) is not None


def test_statements_find_their_rows_by_key(store: Store) -> None:
    """No statement of the hot path may scan a table."""
    traced: list[str] = []
    store._connection.set_trace_callback(traced.append)
    commit(store, 0, 1, wake_up_at=5)
    commit(store, 1, 2, wake_up_at=0)
    store.executions.load(RUN)
    store.executions.current(RUN.workflow)
    store.executions.delete_run(RUN, 0, 1)
    store._connection.set_trace_callback(None)
    for statement in {one for one in traced if one.startswith(("SELECT", "UPDATE", "DELETE"))}:
        plan = store._connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
        assert [step for *_, step in plan if step.startswith("SCAN")] == [], statement


def test_sqlite_is_new_enough_for_the_tables() -> None:
    assert sqlite3.sqlite_version_info >= (3, 37)
