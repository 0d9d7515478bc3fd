"""RegisterNamespace: create a namespace.

Archival and further clusters are not offered: an archival state asked for stays disabled, as it does on a Temporal
server without archival, and a global namespace is refused.
A newcomer's trap: the namespace's ID, not its name, is in every key, so a name that is free again after a deletion is
another namespace.
"""

from temporalio.api.enums.v1 import ArchivalState, NamespaceState, ReplicationState
from temporalio.api.namespace.v1 import BadBinaries, NamespaceConfig, NamespaceInfo
from temporalio.api.replication.v1 import ClusterReplicationConfig, NamespaceReplicationConfig
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceResponse,
    RegisterNamespaceRequest,
    RegisterNamespaceResponse,
)

from durable_core.model.errors import Conflict, InvalidArgument, NamespaceAlreadyExists
from durable_core.ports.catalog import NamespaceRecord
from durable_core.services.context import Context
from durable_core.services.namespace_facts import CLUSTER_NAME, check_name, check_retention


def register_namespace(context: Context, request: RegisterNamespaceRequest) -> RegisterNamespaceResponse:
    """Raises `InvalidArgument` and `NamespaceAlreadyExists`."""
    check_name(request.namespace)
    _check_clusters(request)
    if context.catalog.namespace(request.namespace) is not None:
        raise _exists(request.namespace)
    check_retention(request.workflow_execution_retention_period)
    namespace_id = context.ids.unique()
    body = _described(request, namespace_id).SerializeToString()
    try:
        context.catalog.create_namespace(NamespaceRecord(namespace_id, request.namespace, 1, body))
    except Conflict as error:
        raise _exists(request.namespace) from error
    return RegisterNamespaceResponse()


def _check_clusters(request: RegisterNamespaceRequest) -> None:
    if request.is_global_namespace:
        raise InvalidArgument("Cannot register global namespace when not enabled")
    names = [request.active_cluster_name, *(cluster.cluster_name for cluster in request.clusters)]
    for name in names:
        if name not in ("", CLUSTER_NAME):
            raise InvalidArgument(f"Invalid cluster name: {name}")


def _exists(name: str) -> NamespaceAlreadyExists:
    return NamespaceAlreadyExists(f'Namespace "{name}" already exists')


def _described(request: RegisterNamespaceRequest, namespace_id: str) -> DescribeNamespaceResponse:
    return DescribeNamespaceResponse(
        namespace_info=NamespaceInfo(
            name=request.namespace,
            state=NamespaceState.NAMESPACE_STATE_REGISTERED,
            description=request.description,
            owner_email=request.owner_email,
            data=request.data,
            id=namespace_id,
        ),
        config=NamespaceConfig(
            workflow_execution_retention_ttl=request.workflow_execution_retention_period,
            bad_binaries=BadBinaries(),
            history_archival_state=ArchivalState.ARCHIVAL_STATE_DISABLED,
            visibility_archival_state=ArchivalState.ARCHIVAL_STATE_DISABLED,
        ),
        replication_config=NamespaceReplicationConfig(
            active_cluster_name=CLUSTER_NAME,
            clusters=[ClusterReplicationConfig(cluster_name=CLUSTER_NAME)],
            state=ReplicationState.REPLICATION_STATE_NORMAL,
        ),
    )
