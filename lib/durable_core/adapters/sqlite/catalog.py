"""Namespaces and the deployment's facts: the `Catalog` port."""

import sqlite3
from collections.abc import Sequence

from durable_core.adapters.sqlite.errors import translated
from durable_core.model.errors import Conflict
from durable_core.ports.catalog import Deployment, NamespaceRecord

_SELECT = "SELECT namespace_id, name, version, body FROM namespaces"
_BY_NAME = _SELECT + " WHERE name = ?"
_BY_ID = _SELECT + " WHERE namespace_id = ?"
_AFTER = _SELECT + " WHERE name > ? ORDER BY name LIMIT ?"


class SqliteCatalog:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @translated
    def deployment(self, wanted: Deployment) -> Deployment:
        self._connection.execute(
            "INSERT OR IGNORE INTO deployment VALUES (1, ?, ?, ?)",
            (wanted.deployment_id, wanted.shards, wanted.format),
        )
        stored = self._connection.execute("SELECT deployment_id, shards, format FROM deployment").fetchone()
        return Deployment(*stored)

    def namespace(self, name: str) -> NamespaceRecord | None:
        return self._one(_BY_NAME, name)

    def namespace_by_id(self, namespace_id: str) -> NamespaceRecord | None:
        return self._one(_BY_ID, namespace_id)

    @translated
    def namespaces(self, after_name: str, limit: int) -> Sequence[NamespaceRecord]:
        found = self._connection.execute(_AFTER, (after_name, limit))
        return [NamespaceRecord(*columns) for columns in found]

    @translated
    def create_namespace(self, record: NamespaceRecord) -> None:
        try:
            self._connection.execute(
                "INSERT INTO namespaces VALUES (?, ?, ?, ?)",
                (record.namespace_id, record.name, record.version, record.body),
            )
        except sqlite3.IntegrityError as error:
            raise Conflict(f"namespace {record.name} ({record.namespace_id}) exists") from error

    @translated
    def update_namespace(self, record: NamespaceRecord) -> None:
        try:
            updated = self._connection.execute(
                "UPDATE namespaces SET name = ?, version = ?, body = ? WHERE namespace_id = ? AND version = ?",
                (record.name, record.version, record.body, record.namespace_id, record.version - 1),
            )
        except sqlite3.IntegrityError as error:
            raise Conflict(f"namespace {record.name} exists") from error
        if updated.rowcount != 1:
            raise Conflict(f"namespace {record.name} is not at version {record.version - 1}")

    @translated
    def _one(self, statement: str, value: str) -> NamespaceRecord | None:
        found = self._connection.execute(statement, (value,)).fetchone()
        return None if found is None else NamespaceRecord(*found)
