"""Namespaces and the deployment's own facts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class NamespaceRecord:
    """`body` is a serialized `temporal.api.workflowservice.v1.DescribeNamespaceResponse`."""

    namespace_id: str
    name: str
    version: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Deployment:
    """Facts fixed when a deployment is created."""

    deployment_id: str
    shards: int
    format: int


class Catalog(Protocol):
    def deployment(self, wanted: Deployment) -> Deployment:
        """The stored facts; `wanted` is stored, and returned, when there are none yet."""

    def namespace(self, name: str) -> NamespaceRecord | None: ...

    def namespace_by_id(self, namespace_id: str) -> NamespaceRecord | None: ...

    def namespaces(self, after_name: str, limit: int) -> Sequence[NamespaceRecord]:
        """In order of name, those after `after_name`."""

    def create_namespace(self, record: NamespaceRecord) -> None:
        """Raises `Conflict` when the name or the ID exists."""

    def update_namespace(self, record: NamespaceRecord) -> None:
        """Raises `Conflict` unless the stored version is `record.version - 1`."""
