"""Namespaces as values, cached for a few seconds: the record is read far more often than it changes."""

from temporalio.api.enums.v1 import NamespaceState
from temporalio.api.workflowservice.v1 import DescribeNamespaceResponse

from durable_core.model.errors import InvalidArgument, NamespaceDeleted, NamespaceNotFound
from durable_core.model.namespace import Namespace
from durable_core.model.search_attributes import FIELD_TYPES
from durable_core.model.times import SECOND, nanos
from durable_core.ports.catalog import Catalog, NamespaceRecord
from durable_core.ports.clock import Clock

CACHED_FOR = 10 * SECOND


def from_record(record: NamespaceRecord) -> Namespace:
    described = DescribeNamespaceResponse.FromString(record.body)
    aliases = described.config.custom_search_attribute_aliases
    return Namespace(
        namespace_id=record.namespace_id,
        name=record.name,
        retention=nanos(described.config.workflow_execution_retention_ttl),
        search_attributes={alias: FIELD_TYPES[field] for field, alias in aliases.items()},
        deleted=described.namespace_info.state == NamespaceState.NAMESPACE_STATE_DELETED,
    )


class Namespaces:
    def __init__(self, catalog: Catalog, clock: Clock) -> None:
        self._catalog = catalog
        self._clock = clock
        self._by_name: dict[str, tuple[int, Namespace]] = {}
        self._by_id: dict[str, tuple[int, Namespace]] = {}

    def named(self, name: str) -> Namespace:
        """For a request: raises `InvalidArgument` for no name, `NamespaceNotFound` and `NamespaceDeleted`."""
        namespace = self._named(name)
        if namespace.deleted:
            raise NamespaceDeleted(name)
        return namespace

    def with_id(self, namespace_id: str) -> Namespace:
        """Raises `NamespaceNotFound`."""
        cached = self._by_id.get(namespace_id)
        if cached is not None and cached[0] > self._clock.now():
            return cached[1]
        record = self._catalog.namespace_by_id(namespace_id)
        if record is None:
            raise NamespaceNotFound(namespace_id)
        return self._keep(record)

    def retention(self, namespace_id: str) -> int:
        """How long closed runs are kept, in ns."""
        return self.with_id(namespace_id).retention

    def forget(self) -> None:
        """A namespace changed here: read it again."""
        self._by_name.clear()
        self._by_id.clear()

    def _named(self, name: str) -> Namespace:
        cached = self._by_name.get(name)
        if cached is not None and cached[0] > self._clock.now():
            return cached[1]
        if not name:
            raise InvalidArgument("Namespace is empty.")
        record = self._catalog.namespace(name)
        if record is None:
            raise NamespaceNotFound(name)
        return self._keep(record)

    def _keep(self, record: NamespaceRecord) -> Namespace:
        namespace = from_record(record)
        entry = (self._clock.now() + CACHED_FOR, namespace)
        self._by_name[namespace.name] = entry
        self._by_id[namespace.namespace_id] = entry
        return namespace
