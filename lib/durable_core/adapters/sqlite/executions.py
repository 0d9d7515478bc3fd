"""Writing transitions, and reading runs: the `Executions` port.

One `commit` is one SQLite transaction, the check of the range ID included. Tasks and wake-ups that it stores are handed
to the in-memory queues and the wake-up heap as soon as it is durable; that hand-over is this backend's outbox, so a
task is delivered even if its writer dies before sending it.

Idempotency: each run's row keeps the token of the transition that wrote it last. A repeated transaction finds its own
token there and is a success. Nothing older needs remembering: a writer repeats a transaction only while its outcome is
unknown to it, and once another transition has followed, the repeat fails on the version and is decided anew on the new
state, where the request's own ID shows that it was done. It is never applied twice.
"""

import sqlite3
from collections.abc import Sequence

import msgspec

from durable_core.adapters.sqlite.errors import translated
from durable_core.adapters.sqlite.run_rows import RunRow, RunRows
from durable_core.adapters.sqlite.task_queues import SqliteTaskQueues
from durable_core.adapters.sqlite.wake_ups import SqliteWakeUps
from durable_core.model.errors import AmbiguousCommit, Conflict, ShardOwnershipLost, StorageError
from durable_core.model.ids import RunKey, WorkflowKey
from durable_core.model.tasks import Task
from durable_core.ports.executions import (
    CurrentRun,
    CurrentRunWrite,
    HistoryNode,
    RunWrite,
    StoredRun,
    Transaction,
    View,
)

_SELECT_RANGE = "SELECT range_id FROM shards WHERE shard = ?"
_CLAIM = (
    "INSERT INTO shards VALUES (?, 1, ?)"
    " ON CONFLICT (shard) DO UPDATE SET range_id = range_id + 1, owner = excluded.owner RETURNING range_id"
)
_CLAIM_AT = "UPDATE shards SET range_id = ?, owner = ? WHERE shard = ? AND range_id = ?"
_CLAIM_FIRST = "INSERT OR IGNORE INTO shards VALUES (?, ?, ?)"
_INSERT_RUN = (
    "INSERT INTO runs (namespace_id, workflow_id, run_id, version, token, core) VALUES (?, ?, ?, 1, ?, ?)"
)
_UPDATE_RUN = "UPDATE runs SET version = version + 1, token = ?, core = ? WHERE run = ? AND version = ?"
_SELECT_RUN = "SELECT run, version, core FROM runs WHERE run_id = ? AND workflow_id = ? AND namespace_id = ?"
_SELECT_LAST = "SELECT token FROM runs WHERE run_id = ? AND workflow_id = ? AND namespace_id = ?"
_SELECT_SECTIONS = "SELECT section, entry, value FROM run_sections WHERE run = ?"
_PUT_ENTRY = "INSERT OR REPLACE INTO run_sections VALUES (?, ?, ?, ?)"
_REMOVE_ENTRY = "DELETE FROM run_sections WHERE run = ? AND section = ? AND entry = ?"
_INSERT_BRANCH = "INSERT INTO run_branches VALUES (?, ?)"
_INSERT_NODE = "INSERT INTO history_nodes VALUES (?, ?, ?, ?, ?)"
_INSERT_TASK = "INSERT INTO tasks VALUES (?, ?, ?)"
_DELETE_TASK = "DELETE FROM tasks WHERE run = ? AND task_id = ?"
_SELECT_TASKS = "SELECT task_id FROM tasks WHERE run = ?"
_ARM = "INSERT OR REPLACE INTO wake_ups VALUES (?, ?)"
_DISARM = "DELETE FROM wake_ups WHERE run = ?"
_SELECT_CURRENT = "SELECT run_id, open, state FROM current_runs WHERE workflow_id = ? AND namespace_id = ?"
_INSERT_CURRENT = "INSERT INTO current_runs VALUES (?, ?, ?, ?, ?)"
_UPDATE_CURRENT = (
    "UPDATE current_runs SET run_id = ?, open = ?, state = ?"
    " WHERE workflow_id = ? AND namespace_id = ? AND run_id = ?"
)
_SHARE_BRANCH = (
    "INSERT INTO shared_branches"
    " SELECT ?1, ?2, coalesce((SELECT max(orphaned) FROM shared_branches WHERE branch_id = ?1), 0)"
)
_DELETE_OWN_NODES = (
    "DELETE FROM history_nodes WHERE branch_id IN (SELECT branch_id FROM run_branches AS own WHERE run = ?"
    " AND NOT EXISTS (SELECT 1 FROM shared_branches WHERE branch_id = own.branch_id))"
)
_ORPHAN_SHARED = (
    "UPDATE shared_branches SET orphaned = 1"
    " WHERE branch_id IN (SELECT branch_id FROM run_branches WHERE run = ?)"
)
_DELETE_INHERITED_NODES = (
    "DELETE FROM history_nodes WHERE branch_id IN (SELECT branch_id FROM shared_branches AS mine"
    " WHERE run = ?1 AND orphaned"
    " AND NOT EXISTS (SELECT 1 FROM shared_branches WHERE branch_id = mine.branch_id AND run <> ?1))"
)
_DELETE_RUN = (
    # A branch that other runs go on from is left to the last one of them.
    _DELETE_OWN_NODES,
    _ORPHAN_SHARED,
    _DELETE_INHERITED_NODES,
    "DELETE FROM shared_branches WHERE run = ?",
    "DELETE FROM run_branches WHERE run = ?",
    "DELETE FROM run_sections WHERE run = ?",
    "DELETE FROM tasks WHERE run = ?",
    "DELETE FROM wake_ups WHERE run = ?",
    "DELETE FROM runs WHERE run = ?",
)
_DELETE_CURRENT = "DELETE FROM current_runs WHERE workflow_id = ? AND namespace_id = ? AND run_id = ?"

_encode_task = msgspec.msgpack.Encoder().encode


def _columns(key: RunKey) -> tuple[str, str, str]:
    return key.run_id, key.workflow_id, key.namespace_id


class SqliteExecutions:
    def __init__(
        self, connection: sqlite3.Connection, rows: RunRows, queues: SqliteTaskQueues, wake_ups: SqliteWakeUps
    ) -> None:
        self._connection = connection
        # One cursor for all writes: making a new one for every statement is a noticeable share of a small commit.
        self._cursor = connection.cursor()
        self._rows = rows
        self._queues = queues
        self._wake_ups = wake_ups

    @translated
    def acquire_shard(self, shard: int, owner: str) -> int:
        range_id: int = self._connection.execute(_CLAIM, (shard, owner)).fetchall()[0][0]
        return range_id

    @translated
    def view(self, shard: int, *, run: RunKey | None = None, current: WorkflowKey | None = None) -> View:
        found = self._cursor.execute(_SELECT_RANGE, (shard,)).fetchone()
        return View(
            0 if found is None else found[0],
            None if run is None else self.load(run),
            None if current is None else self.current(current),
        )

    @translated
    def load(self, key: RunKey) -> StoredRun | None:
        found = self._connection.execute(_SELECT_RUN, _columns(key)).fetchone()
        if found is None:
            return None
        row, version, core = found
        sections: dict[str, dict[str, bytes]] = {}
        for section, entry, value in self._connection.execute(_SELECT_SECTIONS, (row,)):
            sections.setdefault(section, {})[entry] = value
        return StoredRun(version, core, sections)

    @translated
    def current(self, key: WorkflowKey) -> CurrentRun | None:
        found = self._connection.execute(_SELECT_CURRENT, (key.workflow_id, key.namespace_id)).fetchone()
        return None if found is None else CurrentRun(found[0], bool(found[1]), found[2])

    @translated
    def commit(self, transaction: Transaction) -> None:
        try:
            self._write(transaction)
        except (Conflict, ShardOwnershipLost):
            if not self._committed_before(transaction):
                raise
            # The first attempt may have failed between the disk and the queues, so the repeat hands over as well.
            for write in transaction.runs:
                self._hand_over(write, self._undone(write))
            return
        for write in transaction.runs:
            self._hand_over(write, write.tasks)

    @translated
    def delete_run(self, key: RunKey, shard: int, range_id: int) -> None:
        """See the port. A branch of history belongs to the run that wrote it, and then to those that go on from it."""
        row = self._rows.find(key)
        tasks: list[tuple[int]] = []
        execute = self._cursor.execute
        execute("BEGIN IMMEDIATE")
        try:
            self._check_fence(shard, range_id)
            if row is not None:
                tasks = execute(_SELECT_TASKS, (row.row,)).fetchall()
                for statement in _DELETE_RUN:
                    execute(statement, (row.row,))
            execute(_DELETE_CURRENT, (key.workflow_id, key.namespace_id, key.run_id))
            self._end()
        finally:
            self._roll_back_unless_ended()
        self._rows.forget(key)
        if row is not None:
            self._queues.discard(key, row.row, (task_id for (task_id,) in tasks))
        self._wake_ups.changed(key, 0)

    @translated
    def flush(self) -> None:
        """Remove the tasks that are done with, if no commit came by to do it."""
        if not self._queues.deleted_rows:
            return
        self._cursor.execute("BEGIN IMMEDIATE")
        try:
            self._cursor.executemany(_DELETE_TASK, self._queues.deleted_rows)
            self._end()
        finally:
            self._roll_back_unless_ended()
        self._queues.deleted_rows.clear()

    def _write(self, transaction: Transaction) -> None:
        deleted = self._queues.deleted_rows
        ended = False
        self._cursor.execute("BEGIN IMMEDIATE")
        try:
            if transaction.claim:
                self._claim(transaction)
            else:
                self._check_fence(transaction.shard, transaction.range_id)
            for write in transaction.runs:
                self._write_run(write, transaction.token)
            if transaction.current is not None:
                self._move_current(transaction.current)
            if deleted:
                self._cursor.executemany(_DELETE_TASK, deleted)
            self._end()
            ended = True
        except sqlite3.IntegrityError as error:
            raise Conflict(f"stored already: {error}") from error
        finally:
            if not ended:
                self._roll_back_unless_ended()
                for write in transaction.runs:
                    self._rows.forget(write.key)
        deleted.clear()

    def _end(self) -> None:
        try:
            self._cursor.execute("COMMIT")
        except sqlite3.Error as error:
            # The log may hold the transaction or not, depending on what the disk did before it failed.
            raise AmbiguousCommit(f"the commit failed on its way to the disk: {error}") from error

    def _roll_back_unless_ended(self) -> None:
        if self._connection.in_transaction:
            self._cursor.execute("ROLLBACK")

    def _check_fence(self, shard: int, range_id: int) -> None:
        found = self._cursor.execute(_SELECT_RANGE, (shard,)).fetchone()
        if found is None or found[0] != range_id:
            stored = 0 if found is None else found[0]
            raise ShardOwnershipLost(f"shard {shard} is at range {stored}, the write carries {range_id}")

    def _claim(self, transaction: Transaction) -> None:
        shard, range_id, owner = transaction.shard, transaction.range_id, transaction.owner
        if range_id == 1:
            self._cursor.execute(_CLAIM_FIRST, (shard, range_id, owner))
        else:
            self._cursor.execute(_CLAIM_AT, (range_id, owner, shard, range_id - 1))
        if self._cursor.rowcount != 1:
            raise ShardOwnershipLost(f"shard {shard} is not at range {range_id - 1}, which the claim follows")

    def _write_run(self, write: RunWrite, token: str) -> None:
        row = self._create(write, token) if write.expected_version == 0 else self._update(write, token)
        if write.sections:
            self._write_sections(row.row, write)
        if write.ancestors:
            self._cursor.executemany(_SHARE_BRANCH, [(branch, row.row) for branch in write.ancestors])
        if write.nodes:
            self._write_nodes(row, write.nodes)
        if write.tasks:
            self._cursor.executemany(
                _INSERT_TASK, [(row.row, task.task_id, _encode_task(task)) for task in write.tasks]
            )
        if write.wake_up_at:
            self._cursor.execute(_ARM, (row.row, write.wake_up_at))
        elif write.wake_up_at == 0 and self._wake_ups.is_armed(write.key):
            self._cursor.execute(_DISARM, (row.row,))

    def _create(self, write: RunWrite, token: str) -> RunRow:
        key = write.key
        self._cursor.execute(_INSERT_RUN, (key.namespace_id, key.workflow_id, key.run_id, token, write.core))
        row = self._cursor.lastrowid
        if row is None:
            raise StorageError("the database gave a new run no row")
        return self._rows.remember(key, RunRow(row))

    def _update(self, write: RunWrite, token: str) -> RunRow:
        row = self._rows.find(write.key)
        if row is None:
            raise Conflict(f"run {write.key.run_id} does not exist")
        self._cursor.execute(_UPDATE_RUN, (token, write.core, row.row, write.expected_version))
        if self._cursor.rowcount != 1:
            raise Conflict(f"run {write.key.run_id} is not at version {write.expected_version}")
        return row

    def _write_sections(self, row: int, write: RunWrite) -> None:
        put: list[tuple[int, str, str, bytes]] = []
        removed: list[tuple[int, str, str]] = []
        for section, entries in write.sections.items():
            for entry, value in entries.items():
                if value is None:
                    removed.append((row, section, entry))
                else:
                    put.append((row, section, entry, value))
        if removed:
            self._cursor.executemany(_REMOVE_ENTRY, removed)
        if put:
            self._cursor.executemany(_PUT_ENTRY, put)

    def _write_nodes(self, row: RunRow, nodes: Sequence[HistoryNode]) -> None:
        for node in nodes:
            if node.branch_id not in row.branches:
                self._cursor.execute(_INSERT_BRANCH, (row.row, node.branch_id))
                row.branches.add(node.branch_id)
            self._cursor.execute(
                _INSERT_NODE,
                (node.branch_id, node.first_event_id, node.transaction_id, node.count, node.events),
            )

    def _move_current(self, write: CurrentRunWrite) -> None:
        key, current = write.key, write.current
        if write.expected_run_id is None:
            self._cursor.execute(
                _INSERT_CURRENT,
                (key.workflow_id, key.namespace_id, current.run_id, current.open, current.state),
            )
            return
        self._cursor.execute(
            _UPDATE_CURRENT,
            (
                current.run_id,
                current.open,
                current.state,
                key.workflow_id,
                key.namespace_id,
                write.expected_run_id,
            ),
        )
        if self._cursor.rowcount != 1:
            raise Conflict(f"{write.expected_run_id} is not the current run of {key.workflow_id}")

    def _hand_over(self, write: RunWrite, tasks: Sequence[Task]) -> None:
        """What was committed goes to the queues and the heap."""
        if tasks:
            self._queues.send(tasks)
        if write.wake_up_at is not None:
            self._wake_ups.changed(write.key, write.wake_up_at)

    def _undone(self, write: RunWrite) -> Sequence[Task]:
        """The tasks of a transaction committed before that are still to be done."""
        row = self._rows.find(write.key)
        if row is None:
            return ()
        undone = {(row.row, task_id) for (task_id,) in self._cursor.execute(_SELECT_TASKS, (row.row,))}
        undone.difference_update(self._queues.deleted_rows)
        return [task for task in write.tasks if (row.row, task.task_id) in undone]

    def _committed_before(self, transaction: Transaction) -> bool:
        tokens = [
            self._connection.execute(_SELECT_LAST, _columns(write.key)).fetchone()
            for write in transaction.runs
        ]
        return bool(tokens) and all(token == (transaction.token,) for token in tokens)
