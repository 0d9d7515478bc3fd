"""DescribeNamespace: a namespace by its name or its ID.

A newcomer's trap: workers ask this at start and switch features on by the capabilities in the answer
(`namespace_facts`).
"""

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, DescribeNamespaceResponse

from durable_core.model.errors import InvalidArgument, NamespaceNotFound
from durable_core.services.context import Context
from durable_core.services.namespace_facts import describe, find


def describe_namespace(context: Context, request: DescribeNamespaceRequest) -> DescribeNamespaceResponse:
    """Raises `InvalidArgument` and `NamespaceNotFound`."""
    if not request.id:
        return describe(find(context.catalog, request.namespace))
    if request.namespace:
        raise InvalidArgument("Both Namespace and Id are set on request.")
    record = context.catalog.namespace_by_id(request.id)
    if record is None:
        raise NamespaceNotFound(request.id)
    return describe(record)
