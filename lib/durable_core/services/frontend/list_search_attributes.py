"""ListSearchAttributes: a namespace's custom search attributes by their own names, and those that every namespace has.

A newcomer's trap: the predefined ones, which a client may set, are told among the system's.
"""

from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest, ListSearchAttributesResponse

from durable_core.engine.checks import PREDEFINED_SEARCH_ATTRIBUTES
from durable_core.model.errors import InvalidArgument
from durable_core.model.search_attributes import SYSTEM_TYPES
from durable_core.services.context import Context


def list_search_attributes(
    context: Context, request: ListSearchAttributesRequest
) -> ListSearchAttributesResponse:
    """Raises `InvalidArgument` and `NamespaceNotFound`."""
    if not request.namespace:
        raise InvalidArgument("Namespace is not set on request.")
    context.namespaces.forget()  # Another process may have added one a moment ago.
    namespace = context.namespaces.named(request.namespace)
    return ListSearchAttributesResponse(
        custom_attributes=namespace.search_attributes,
        system_attributes={**SYSTEM_TYPES, **PREDEFINED_SEARCH_ATTRIBUTES},
    )
