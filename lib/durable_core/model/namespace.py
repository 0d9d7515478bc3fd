"""What decisions need to know of a namespace: a value, made from the stored record by the services."""

from collections.abc import Callable
from dataclasses import dataclass, field

from temporalio.api.enums.v1 import IndexedValueType


@dataclass(frozen=True, slots=True)
class Namespace:
    """`search_attributes` maps the custom ones to their type; `retention` is in ns."""

    namespace_id: str
    name: str
    retention: int
    search_attributes: dict[str, "IndexedValueType.ValueType"] = field(default_factory=dict)
    deleted: bool = False


ResolveNamespace = Callable[[str], Namespace]
"""Finds a namespace by name; raises `NamespaceNotFound`."""
