"""DeprecateNamespace: mark a namespace as deprecated.

A newcomer's trap: it is a mark and no more. Workflows in it start and run on, as they do on the Temporal server.
"""

from temporalio.api.enums.v1 import NamespaceState
from temporalio.api.workflowservice.v1 import (
    DeprecateNamespaceRequest,
    DeprecateNamespaceResponse,
    DescribeNamespaceResponse,
)

from durable_core.services.context import Context
from durable_core.services.namespace_facts import change


def deprecate_namespace(context: Context, request: DeprecateNamespaceRequest) -> DeprecateNamespaceResponse:
    """Raises `InvalidArgument` and `NamespaceNotFound`."""
    change(context, request.namespace, _deprecate)
    return DeprecateNamespaceResponse()


def _deprecate(said: DescribeNamespaceResponse) -> None:
    said.namespace_info.state = NamespaceState.NAMESPACE_STATE_DEPRECATED
