"""GetClusterInfo: the deployment's own facts, for the command line and the web interface.

A newcomer's trap: there is one cluster, and it has the name that a Temporal server gives its only one.
"""

from temporalio.api.workflowservice.v1 import GetClusterInfoRequest, GetClusterInfoResponse

from durable_core.model.versions import DEPLOYMENT_FORMAT, SUPPORTED_CLIENTS, TEMPORAL_SERVER_VERSION
from durable_core.ports.catalog import Deployment
from durable_core.services.context import Context
from durable_core.services.namespace_facts import CLUSTER_NAME


def get_cluster_info(context: Context, request: GetClusterInfoRequest) -> GetClusterInfoResponse:
    del request
    # The stored facts: a deployment that runs has some, so what we would store instead is only a matter of form.
    wanted = Deployment(context.ids.unique(), context.settings.shards, DEPLOYMENT_FORMAT)
    deployment = context.catalog.deployment(wanted)
    return GetClusterInfoResponse(
        supported_clients=SUPPORTED_CLIENTS,
        server_version=TEMPORAL_SERVER_VERSION,
        cluster_id=deployment.deployment_id,
        cluster_name=CLUSTER_NAME,
        history_shard_count=deployment.shards,
        initial_failover_version=1,
        failover_version_increment=10,
    )
