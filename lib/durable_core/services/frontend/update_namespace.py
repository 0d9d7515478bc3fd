"""UpdateNamespace: change what a namespace says of itself, its retention, its state, its bad binaries.

Archival and further clusters are not offered, and what a request says of them is ignored or refused as a Temporal
server without them does.
A newcomer's trap: an empty text means "leave it as it is", while the bad binaries are replaced as a whole whenever the
request has a configuration.
"""

from collections.abc import Mapping, MutableMapping

from temporalio.api.enums.v1 import NamespaceState
from temporalio.api.namespace.v1 import NamespaceConfig, UpdateNamespaceInfo
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceResponse,
    UpdateNamespaceRequest,
    UpdateNamespaceResponse,
)

from durable_core.model import limits
from durable_core.model.errors import InvalidArgument
from durable_core.model.search_attributes import FIELD_TYPES
from durable_core.model.times import timestamp
from durable_core.services.context import Context
from durable_core.services.namespace_facts import (
    CLUSTER_NAME,
    STATE_CHANGES,
    change,
    check_retention,
    describe,
    find,
)


def update_namespace(context: Context, request: UpdateNamespaceRequest) -> UpdateNamespaceResponse:
    """Raises `InvalidArgument` and `NamespaceNotFound`."""
    find(context.catalog, request.namespace)
    _check_clusters(request)
    now = context.clock.now()
    record = change(context, request.namespace, lambda said: _decide(said, request, now))
    said = describe(record)
    return UpdateNamespaceResponse(
        namespace_info=said.namespace_info,
        config=said.config,
        replication_config=said.replication_config,
        failover_version=said.failover_version,
        is_global_namespace=said.is_global_namespace,
    )


def _check_clusters(request: UpdateNamespaceRequest) -> None:
    if request.promote_namespace:
        raise InvalidArgument(
            "global namespace is not enabled on this cluster, cannot update global namespace "
            f"or promote local namespace: {request.namespace}"
        )
    replication = request.replication_config
    for name in (replication.active_cluster_name, *(one.cluster_name for one in replication.clusters)):
        if name not in ("", CLUSTER_NAME):
            raise InvalidArgument(f"Invalid cluster name: {name}")


def _decide(said: DescribeNamespaceResponse, request: UpdateNamespaceRequest, now: int) -> None:
    if request.HasField("update_info"):
        _change_info(said, request.update_info)
    if request.HasField("config"):
        _change_config(said.config, request.config, now)
    if request.delete_bad_binary:
        binaries = said.config.bad_binaries.binaries
        if request.delete_bad_binary not in binaries:
            raise InvalidArgument(f"Bad binary checksum {request.delete_bad_binary} doesn't exists.")
        del binaries[request.delete_bad_binary]


def _change_info(said: DescribeNamespaceResponse, info: UpdateNamespaceInfo) -> None:
    stored = said.namespace_info
    stored.description = info.description or stored.description
    stored.owner_email = info.owner_email or stored.owner_email
    stored.data.update(info.data)
    if info.state == NamespaceState.NAMESPACE_STATE_UNSPECIFIED:
        return
    if info.state not in STATE_CHANGES[stored.state]:
        raise InvalidArgument("Invalid namespace state update.")
    stored.state = info.state


def _change_config(stored: NamespaceConfig, config: NamespaceConfig, now: int) -> None:
    if config.HasField("workflow_execution_retention_ttl"):
        check_retention(config.workflow_execution_retention_ttl)
        stored.workflow_execution_retention_ttl.CopyFrom(config.workflow_execution_retention_ttl)
    if len(config.bad_binaries.binaries) > limits.bad_binaries_max:
        raise InvalidArgument(f"Total resetBinaries cannot exceed the max limit: {limits.bad_binaries_max}")
    stored.bad_binaries.CopyFrom(config.bad_binaries)
    for binary in stored.bad_binaries.binaries.values():
        binary.create_time.CopyFrom(timestamp(now))
    _change_aliases(stored.custom_search_attribute_aliases, config.custom_search_attribute_aliases)


def _change_aliases(stored: MutableMapping[str, str], wanted: Mapping[str, str]) -> None:
    """An empty alias frees its field. A field that is taken keeps its alias, for values are stored under it."""
    for field, alias in wanted.items():
        if field not in FIELD_TYPES:
            raise InvalidArgument(f"{field} is not a field of custom search attributes.")
        if not alias:
            stored.pop(field, None)
        elif stored.get(field, alias) != alias:
            raise InvalidArgument("Custom search attribute field name already allocated.")
        else:
            stored[field] = alias
