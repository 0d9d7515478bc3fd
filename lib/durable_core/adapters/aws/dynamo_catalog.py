"""Namespaces and the deployment's facts: the `Catalog` port.

A namespace is stored under its name, where listing finds it in order, and under its ID; both are written together.
"""

from collections.abc import Sequence
from itertools import islice

from pynamodb.exceptions import TransactWriteError
from pynamodb.expressions.condition import Condition

from durable_core.adapters.aws.dynamo_database import Database, writing
from durable_core.adapters.aws.dynamo_items import DeploymentItem, NamespaceItem
from durable_core.model.errors import Conflict
from durable_core.ports.catalog import Deployment, NamespaceRecord

DEPLOYMENT = "deployment"
FACTS = "facts"
BY_NAME = "namespace"
BY_ID = "namespace-id"


class DynamoCatalog:
    def __init__(self, database: Database) -> None:
        self._database = database

    def deployment(self, wanted: Deployment) -> Deployment:
        stored = self._database.get(DeploymentItem, DEPLOYMENT, FACTS)
        if stored is None:
            first = DeploymentItem(
                pk=DEPLOYMENT,
                sk=FACTS,
                deployment_id=wanted.deployment_id,
                shards=wanted.shards,
                format=wanted.format,
            )
            if self._database.put(first, DeploymentItem.pk.does_not_exist()):
                return wanted
            return self.deployment(wanted)
        return Deployment(stored.deployment_id, int(stored.shards), int(stored.format))

    def namespace(self, name: str) -> NamespaceRecord | None:
        return self._one(BY_NAME, name)

    def namespace_by_id(self, namespace_id: str) -> NamespaceRecord | None:
        return self._one(BY_ID, namespace_id)

    def namespaces(self, after_name: str, limit: int) -> Sequence[NamespaceRecord]:
        after = NamespaceItem.sk > after_name if after_name else None
        found = self._database.query(NamespaceItem, BY_NAME, after, page=limit)
        return [_record(item) for item in islice(found, limit)]

    def create_namespace(self, record: NamespaceRecord) -> None:
        new = NamespaceItem.pk.does_not_exist()
        self._write(
            [(_item(BY_NAME, record.name, record), new), (_item(BY_ID, record.namespace_id, record), new)]
        )

    def update_namespace(self, record: NamespaceRecord) -> None:
        stored = self.namespace_by_id(record.namespace_id)
        if stored is None:
            raise Conflict(f"namespace {record.namespace_id} does not exist")
        expected = NamespaceItem.version == record.version - 1
        by_id = (_item(BY_ID, record.namespace_id, record), expected)
        by_name = _item(BY_NAME, record.name, record)
        if stored.name == record.name:
            self._write([by_id, (by_name, None)])
        else:
            named = NamespaceItem.name == stored.name
            renamed = (_item(BY_ID, record.namespace_id, record), expected & named)
            self._write([renamed, (by_name, NamespaceItem.pk.does_not_exist())], removes=stored.name)

    def _one(self, kind: str, name: str) -> NamespaceRecord | None:
        if not name:
            return None
        item = self._database.get(NamespaceItem, kind, name)
        return None if item is None else _record(item)

    def _write(
        self, items: Sequence[tuple[NamespaceItem, Condition | None]], *, removes: str | None = None
    ) -> None:
        database = self._database
        removals = [] if removes is None else [database.removal(NamespaceItem, BY_NAME, removes)]
        puts = [database.save(item, condition) for item, condition in items]
        with writing("a namespace"):
            try:
                database.connection.transact_write_items((), removals, puts, ())
            except TransactWriteError as error:
                if any(reason is not None for reason in error.cancellation_reasons):
                    raise Conflict(f"namespace {items[0][0].name} is not as expected") from error
                raise


def _item(kind: str, key: str, record: NamespaceRecord) -> NamespaceItem:
    return NamespaceItem(
        pk=kind,
        sk=key,
        namespace_id=record.namespace_id,
        name=record.name,
        version=record.version,
        body=record.body,
    )


def _record(item: NamespaceItem) -> NamespaceRecord:
    return NamespaceRecord(item.namespace_id, item.name, int(item.version), item.body)
