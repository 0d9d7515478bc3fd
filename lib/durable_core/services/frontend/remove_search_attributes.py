"""RemoveSearchAttributes: take custom search attributes from a namespace.

A newcomer's trap: a name that the namespace does not have is no error, a name of the system's is.
"""

from collections.abc import Sequence

from temporalio.api.operatorservice.v1 import RemoveSearchAttributesRequest, RemoveSearchAttributesResponse
from temporalio.api.workflowservice.v1 import DescribeNamespaceResponse

from durable_core.engine.checks import PREDEFINED_SEARCH_ATTRIBUTES
from durable_core.model.errors import InvalidArgument
from durable_core.model.search_attributes import FIELD_TYPES, SYSTEM_TYPES
from durable_core.services.context import Context
from durable_core.services.namespace_facts import change


def remove_search_attributes(
    context: Context, request: RemoveSearchAttributesRequest
) -> RemoveSearchAttributesResponse:
    """Raises `InvalidArgument` and `NamespaceNotFound`; then none of them was removed."""
    if not request.search_attributes:
        raise InvalidArgument("SearchAttributes are not set on request.")
    if not request.namespace:
        raise InvalidArgument("Namespace is not set on request.")
    change(context, request.namespace, lambda said: _decide(said, request.search_attributes))
    return RemoveSearchAttributesResponse()


def _decide(said: DescribeNamespaceResponse, names: Sequence[str]) -> None:
    aliases = said.config.custom_search_attribute_aliases
    fields = {alias: field for field, alias in aliases.items()}
    for name in names:
        if name in fields:
            aliases.pop(fields[name], None)
        elif name in SYSTEM_TYPES or name in PREDEFINED_SEARCH_ATTRIBUTES or name in FIELD_TYPES:
            raise InvalidArgument(f"Unable to remove non-custom search attributes: {name}.")
