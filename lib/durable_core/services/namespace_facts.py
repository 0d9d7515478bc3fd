"""What we know and say of a namespace: reading its record, changing it, describing it.

What does not live here: which fields a request may change (each RPC's own module).
Capabilities and limits are not stored: they are true of the code that answers, so an upgraded server tells its own.
A newcomer's trap: clients switch features on by a capability. Set one only when all of what it promises works.
"""

from collections.abc import Callable

from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import NamespaceState
from temporalio.api.namespace.v1 import NamespaceInfo
from temporalio.api.workflowservice.v1 import DescribeNamespaceResponse

from durable_core.model import limits
from durable_core.model.errors import (
    Conflict,
    InvalidArgument,
    NamespaceDeleted,
    NamespaceNotFound,
    Unavailable,
)
from durable_core.model.times import nanos
from durable_core.ports.catalog import Catalog, NamespaceRecord
from durable_core.services.context import Context

# The only cluster there is, by the name that the Temporal server gives a cluster of its own.
CLUSTER_NAME = "active"

# From a state to those that an update may set; the Temporal server's rule.
STATE_CHANGES: dict["NamespaceState.ValueType", frozenset["NamespaceState.ValueType"]] = {
    NamespaceState.NAMESPACE_STATE_REGISTERED: frozenset(
        {
            NamespaceState.NAMESPACE_STATE_REGISTERED,
            NamespaceState.NAMESPACE_STATE_DEPRECATED,
            NamespaceState.NAMESPACE_STATE_DELETED,
        }
    ),
    NamespaceState.NAMESPACE_STATE_DEPRECATED: frozenset(
        {NamespaceState.NAMESPACE_STATE_DEPRECATED, NamespaceState.NAMESPACE_STATE_DELETED}
    ),
}


def find(catalog: Catalog, name: str) -> NamespaceRecord:
    """The record of a namespace that a request names; raises `InvalidArgument` or `NamespaceNotFound`."""
    check_name(name)
    record = catalog.namespace(name)
    if record is None:
        raise NamespaceNotFound(name)
    return record


def check_name(name: str) -> None:
    if not name:
        raise InvalidArgument("Namespace not set on request.")
    if len(name) > limits.id_length_max:
        raise InvalidArgument("Namespace length exceeds limit.")


def check_retention(retention: Duration) -> None:
    if nanos(retention) < limits.retention_min:
        raise InvalidArgument("A valid retention period is not set on request.")


def describe(record: NamespaceRecord) -> DescribeNamespaceResponse:
    """All that is said of a namespace: what is stored, what this server can do with it, and within which limits."""
    said = DescribeNamespaceResponse.FromString(record.body)
    said.namespace_info.capabilities.CopyFrom(_capabilities())
    said.namespace_info.limits.CopyFrom(_limits())
    return said


def change(
    context: Context, name: str, decide: Callable[[DescribeNamespaceResponse], None]
) -> NamespaceRecord:
    """Store what `decide` changes in the namespace, and return the new record.

    When somebody else changed it meanwhile, it decides again on what is stored by then. Raises `NamespaceNotFound` and
    `NamespaceDeleted`.
    """
    for _ in range(limits.commit_attempts_max):
        record = find(context.catalog, name)
        said = DescribeNamespaceResponse.FromString(record.body)
        if said.namespace_info.state == NamespaceState.NAMESPACE_STATE_DELETED:
            raise NamespaceDeleted(name)
        decide(said)
        changed = NamespaceRecord(
            record.namespace_id, record.name, record.version + 1, said.SerializeToString()
        )
        try:
            context.catalog.update_namespace(changed)
        except Conflict:
            continue
        context.namespaces.forget()
        return changed
    raise Unavailable(f"Namespace {name} is being changed by others; try again.")


def _capabilities() -> NamespaceInfo.Capabilities:
    """Those of the optional features that are complete."""
    return NamespaceInfo.Capabilities(eager_workflow_start=True, sync_update=True, async_update=True)


def _limits() -> NamespaceInfo.Limits:
    return NamespaceInfo.Limits(
        blob_size_limit_error=limits.blob_bytes_max,
        memo_size_limit_error=limits.memo_bytes_max,
        workflow_task_completion_size_limit_error=limits.workflow_task_completion_bytes_max,
    )
