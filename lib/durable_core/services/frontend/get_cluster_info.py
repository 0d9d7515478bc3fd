"""GetClusterInfo: the deployment's own facts, for the command line and the web interface.

A newcomer's trap: there is one cluster, and it has the name that a Temporal server gives its only one.
"""

from typing import Protocol

from temporalio.api.workflowservice.v1 import GetClusterInfoRequest, GetClusterInfoResponse

from durable_core.model.versions import SUPPORTED_CLIENTS, TEMPORAL_SERVER_VERSION
from durable_core.ports.catalog import Deployment
from durable_core.services.namespace_facts import CLUSTER_NAME


class Context(Protocol):
    @property
    def deployment(self) -> Deployment: ...


def get_cluster_info(context: Context, request: GetClusterInfoRequest) -> GetClusterInfoResponse:
    del request
    return GetClusterInfoResponse(
        supported_clients=SUPPORTED_CLIENTS,
        server_version=TEMPORAL_SERVER_VERSION,
        cluster_id=context.deployment.deployment_id,
        cluster_name=CLUSTER_NAME,
        history_shard_count=context.deployment.shards,
        initial_failover_version=1,
        failover_version_increment=10,
    )
