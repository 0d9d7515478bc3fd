"""The tables of one deployment behind one connection: reading and writing items, and what AWS's errors mean.

What does not live here: what is written together and why (`dynamo_executions` and its siblings).
A newcomer's trap: all models share one pynamodb connection, for each connection makes a client of its own and that is
most of a cold start. It is made when it is first used.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.connection import Connection
from pynamodb.connection.base import MetaTable
from pynamodb.exceptions import PynamoDBException
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.models import Model

from durable_core.adapters.aws.dynamo_items import (
    DeploymentItem,
    NamespaceItem,
    PartItem,
    PointerItem,
    PollerItem,
    QueryItem,
    RunItem,
    ShardItem,
)
from durable_core.model.errors import Throttled, Unavailable
from durable_core.schema import tables

M = TypeVar("M", bound=Model)
Raw = Mapping[str, Any]

CONNECT_SECONDS = 1
READ_SECONDS = 5
RETRIES = 2
BATCH_GET_MAX = 100
"""DynamoDB's own limit of keys a batch."""
BATCH_WRITE_MAX = 25
BATCH_ROUNDS_MAX = 8

TABLES: dict[type[Model], tables.Table] = {
    ShardItem: tables.SHARDS,
    RunItem: tables.RUNS,
    PointerItem: tables.RUNS,
    PartItem: tables.HISTORY,
    DeploymentItem: tables.CATALOG,
    NamespaceItem: tables.CATALOG,
    QueryItem: tables.CATALOG,
    PollerItem: tables.CATALOG,
}
THROTTLING = frozenset(
    (
        "ProvisionedThroughputExceededException",
        "ThrottlingException",
        "RequestLimitExceeded",
        "ThrottlingError",
        "ProvisionedThroughputExceeded",
        "LimitExceededException",
    )
)


@dataclass(frozen=True, slots=True)
class Access:
    """Where DynamoDB is and who asks; None: where botocore looks for it."""

    region: str | None = None
    endpoint: str | None = None
    access_key_id: str | None = None
    secret_access_key: str | None = None


def code_of(error: Exception) -> str:
    """The service's code of an error that pynamodb or botocore raised; "" when there was no answer."""
    cause = error.cause if isinstance(error, PynamoDBException) else error
    if isinstance(cause, ClientError):
        code: str = cause.response.get("Error", {}).get("Code", "")
        return code.rpartition(".")[2]
    return ""


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Nothing was changed, so whatever went wrong, the caller may ask again."""
    try:
        yield
    except (PynamoDBException, ClientError, BotoCoreError) as error:
        raise Unavailable(f"reading {what}: {error}") from error


@contextmanager
def writing(what: str) -> Iterator[None]:
    """Writes that may be repeated without harm."""
    try:
        yield
    except (PynamoDBException, ClientError, BotoCoreError) as error:
        if code_of(error) in THROTTLING:
            raise Throttled(f"writing {what}: {error}") from error
        raise Unavailable(f"writing {what}: {error}") from error


class Database:
    def __init__(self, prefix: str, access: Access) -> None:
        self._names = {model: table.name(prefix) for model, table in TABLES.items()}
        self._access = access

    @cached_property
    def connection(self) -> Connection:
        connection = Connection(
            region=self._access.region,
            host=self._access.endpoint,
            connect_timeout_seconds=CONNECT_SECONDS,
            read_timeout_seconds=READ_SECONDS,
            max_retry_attempts=RETRIES,
            aws_access_key_id=self._access.access_key_id,
            aws_secret_access_key=self._access.secret_access_key,
        )
        known: set[str] = set()
        for model, name in self._names.items():
            if name not in known:
                known.add(name)
                connection.add_meta_table(_meta_table(name, TABLES[model]))
        return connection

    def name(self, model: type[Model]) -> str:
        return self._names[model]

    # Parts of transactions. ------------------------------------------------------------------------------------------

    def save(self, item: Model, condition: Condition | None = None, *, tells: bool = False) -> dict[str, Any]:
        """Put the item. `tells`: when the condition fails, the answer holds the item that is there."""
        attributes = item.serialize()
        keys = [attributes.pop(key.name) for key in TABLES[type(item)].keys]
        return self._operation(
            type(item),
            *(next(iter(key.values())) for key in keys),
            key="Item",
            attributes=attributes,
            condition=condition,
            return_values_on_condition_failure="ALL_OLD" if tells else None,
        )

    def check(self, model: type[Model], pk: str, sk: str | None, condition: Condition) -> dict[str, Any]:
        return self._operation(model, pk, sk, condition=condition)

    def removal(
        self, model: type[Model], pk: str, sk: str, condition: Condition | None = None
    ) -> dict[str, Any]:
        return self._operation(model, pk, sk, condition=condition)

    def _operation(self, model: type[Model], pk: str, sk: str | None = None, **how: Any) -> dict[str, Any]:
        operation: dict[str, Any] = self.connection.get_operation_kwargs(
            self._names[model], pk, range_key=sk, **how
        )
        return operation

    # Single items. ---------------------------------------------------------------------------------------------------

    def raw(
        self, model: type[Model], pk: str, sk: str | None = None, *, consistent: bool = True
    ) -> Raw | None:
        with reading("an item"):
            answer = self.connection.get_item(self._names[model], pk, sk, consistent_read=consistent)
        item: Raw | None = answer.get("Item")
        return item

    def get(self, model: type[M], pk: str, sk: str | None = None, *, consistent: bool = True) -> M | None:
        item = self.raw(model, pk, sk, consistent=consistent)
        return None if item is None else model.from_raw_data(dict(item))

    def put(self, item: Model, condition: Condition | None = None) -> bool:
        """Whether the condition held and the item is there now."""
        attributes = item.serialize()
        pk, sk, *_ = *(next(iter(attributes.pop(key.name).values())) for key in TABLES[type(item)].keys), None
        with writing("an item"):
            return self._unless_refused(
                lambda: self.connection.put_item(
                    self._names[type(item)], pk, sk, attributes=attributes, condition=condition
                )
            )

    def change(
        self, model: type[Model], pk: str, sk: str, actions: Sequence[Action], condition: Condition
    ) -> bool:
        """Whether the condition held and the item is changed."""
        with writing("an item"):
            return self._unless_refused(
                lambda: self.connection.update_item(
                    self._names[model], pk, sk, actions=actions, condition=condition
                )
            )

    def remove(self, model: type[Model], pk: str, sk: str) -> None:
        with writing("an item"):
            self.connection.delete_item(self._names[model], pk, sk)

    def _unless_refused(self, act: Any) -> bool:
        try:
            act()
        except PynamoDBException as error:
            if code_of(error) == "ConditionalCheckFailedException":
                return False
            raise
        return True

    # Many items. -----------------------------------------------------------------------------------------------------

    def query(
        self,
        model: type[M],
        pk: str,
        sort: Condition | None = None,
        *,
        forward: bool = True,
        page: int | None = None,
        attributes: Sequence[str] | None = None,
    ) -> Iterator[M]:
        """The items of a partition in the order of their sort keys, read consistently, page by page."""
        start: Any = None
        while True:
            with reading("items"):
                answer = self.connection.query(
                    self._names[model],
                    pk,
                    range_key_condition=sort,
                    consistent_read=True,
                    exclusive_start_key=start,
                    limit=page,
                    scan_index_forward=forward,
                    attributes_to_get=attributes,
                )
            for item in answer["Items"]:
                yield model.from_raw_data(item)
            start = answer.get("LastEvaluatedKey")
            if not start:
                return

    def batch(self, wanted: Iterable[tuple[type[Model], str, str | None]]) -> dict[tuple[str, str], Raw]:
        """Raw items by partition and sort key, each read consistently. What is not there is missing."""
        keys = list(wanted)
        found: dict[tuple[str, str], Raw] = {}
        for start in range(0, len(keys), BATCH_GET_MAX):
            self._batch(keys[start : start + BATCH_GET_MAX], found)
        return found

    def _batch(
        self, keys: Sequence[tuple[type[Model], str, str | None]], found: dict[tuple[str, str], Raw]
    ) -> None:
        request: dict[str, Any] = {}
        for model, pk, sk in keys:
            table = TABLES[model]
            key = {table.partition.name: {table.partition.type: pk}}
            if table.sort is not None and sk is not None:
                key[table.sort.name] = {table.sort.type: sk}
            asked = request.setdefault(self._names[model], {"ConsistentRead": True, "Keys": []})
            asked["Keys"].append(key)
        for _ in range(BATCH_ROUNDS_MAX):
            with reading("items"):
                answer = self.connection.dispatch("BatchGetItem", {"RequestItems": request})
            for items in answer["Responses"].values():
                for item in items:
                    sort = item.get(tables.SORT)
                    partition = next(iter(item[tables.PARTITION].values()))
                    found[partition, sort["S"] if sort else ""] = item
            request = answer.get("UnprocessedKeys") or {}
            if not request:
                return
        raise Unavailable("DynamoDB did not answer for all keys of a batch")

    def put_all(self, items: Sequence[Model]) -> None:
        """Put items of one table, each on its own and without conditions."""
        for start in range(0, len(items), BATCH_WRITE_MAX):
            self._put_batch(items[start : start + BATCH_WRITE_MAX])

    def _put_batch(self, items: Sequence[Model]) -> None:
        requests = [{"PutRequest": {"Item": item.serialize()}} for item in items]
        left: Any = {self._names[type(items[0])]: requests}
        for _ in range(BATCH_ROUNDS_MAX):
            with writing("items"):
                answer = self.connection.dispatch("BatchWriteItem", {"RequestItems": left})
            left = answer.get("UnprocessedItems") or {}
            if not left:
                return
        raise Throttled("DynamoDB did not take all items of a batch")


def _meta_table(name: str, table: tables.Table) -> MetaTable:
    kinds = ("HASH", "RANGE")
    return MetaTable(
        {
            "TableName": name,
            "KeySchema": [
                {"AttributeName": key.name, "KeyType": kind}
                for key, kind in zip(table.keys, kinds, strict=False)
            ],
            "AttributeDefinitions": [
                {"AttributeName": key.name, "AttributeType": key.type} for key in table.keys
            ],
        }
    )
