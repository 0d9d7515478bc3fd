"""Counting what is asked of AWS: calls by service and operation, and DynamoDB's read and write units.

It listens to a botocore client, so it counts what is really sent, retries included, and changes nothing. What does not
live here: prices.
A newcomer's trap: units follow DynamoDB's rules and not an emulator's answers. A transaction bills two write units for
every item and KB in it, also for items that it only checks, and also when it is refused.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

WRITE_UNIT_BYTES = 1024
READ_UNIT_BYTES = 4096
ITEM_BYTES_UNKNOWN = 1
"""Of an item that a request names and does not hold (a check, an update, a removal): it bills the least there is."""

Item = Mapping[str, Mapping[str, Any]]


def item_size(item: Item) -> int:
    """Bytes of an item as DynamoDB counts them: names and values."""
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def _value_size(value: Mapping[str, Any]) -> int:
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(str(content).encode())
        case "B":
            return len(content)
        case "N":
            return len(str(content).lstrip("-0").replace(".", "")) // 2 + 2
        case "BOOL" | "NULL":
            return 1
        case "SS":
            return sum(len(text.encode()) for text in content)
        case "L":
            return 3 + sum(1 + _value_size(entry) for entry in content)
        case "M":
            return 3 + sum(1 + len(name.encode()) + _value_size(entry) for name, entry in content.items())
        case _:
            raise ValueError(f"values of type {kind} are nothing that we write")


def _units(size: int, unit: int) -> int:
    return max(1, -(-size // unit))


@dataclass(slots=True)
class Counted:
    """What was asked since the counting began."""

    calls: Counter[str] = field(default_factory=Counter)
    """By service and operation: `dynamodb.TransactWriteItems`."""
    write_units: int = 0
    read_units: float = 0.0
    transactions: list[int] = field(default_factory=list)
    """The write units of each transaction, in order."""

    def of(self, service: str) -> int:
        """All calls of a service."""
        return sum(count for name, count in self.calls.items() if name.startswith(f"{service}."))


class Counting:
    """Counts for every client that it is attached to."""

    def __init__(self) -> None:
        self.counted = Counted()

    def attach(self, client: Any) -> None:
        """Listen to a botocore client."""
        events = client.meta.events
        service = client.meta.service_model.service_name
        events.register(f"provide-client-params.{service}", self._asked)
        events.register(f"after-call.{service}", self._answered)

    def take(self) -> Counted:
        """What was counted since the last time."""
        counted, self.counted = self.counted, Counted()
        return counted

    def _asked(self, params: Mapping[str, Any], model: Any, **_: Any) -> None:
        service = model.service_model.service_name
        self.counted.calls[f"{service}.{model.name}"] += 1
        if service == "dynamodb":
            self._write(model.name, params)

    def _write(self, operation: str, params: Mapping[str, Any]) -> None:
        match operation:
            case "TransactWriteItems":
                units = sum(
                    2 * _units(_operation_size(entry), WRITE_UNIT_BYTES) for entry in params["TransactItems"]
                )
                self.counted.transactions.append(units)
                self.counted.write_units += units
            case "PutItem":
                self.counted.write_units += _units(item_size(params["Item"]), WRITE_UNIT_BYTES)
            case "UpdateItem" | "DeleteItem":
                self.counted.write_units += ITEM_BYTES_UNKNOWN
            case "BatchWriteItem":
                for requests in params["RequestItems"].values():
                    for request in requests:
                        size = _operation_size({"Put": request.get("PutRequest", {})})
                        self.counted.write_units += _units(size, WRITE_UNIT_BYTES)
            case _:
                """It writes nothing."""

    def _answered(self, parsed: Mapping[str, Any], model: Any, **_: Any) -> None:
        if model.service_model.service_name != "dynamodb":
            return
        match model.name:
            case "GetItem":
                # Ours are consistent but for a few hints; half a unit is within any accuracy that matters.
                self._read([parsed["Item"]] if "Item" in parsed else [])
            case "BatchGetItem":
                for items in parsed.get("Responses", {}).values():
                    for item in items:
                        self._read([item])
            case "Query":
                self._read(parsed.get("Items", ()))
            case _:
                """It reads nothing, or what it reads is not billed as reading."""

    def _read(self, items: Sequence[Item]) -> None:
        self.counted.read_units += _units(sum(item_size(item) for item in items), READ_UNIT_BYTES)


def _operation_size(entry: Mapping[str, Mapping[str, Any]]) -> int:
    ((_, operation),) = entry.items()
    item = operation.get("Item")
    return ITEM_BYTES_UNKNOWN if item is None else item_size(item)
