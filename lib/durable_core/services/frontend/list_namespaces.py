"""ListNamespaces: all namespaces by pages, in order of name.

A newcomer's trap: deleted namespaces are left out after the page was read, so a page may be short, or empty, and still
have a successor.
"""

from temporalio.api.enums.v1 import NamespaceState
from temporalio.api.workflowservice.v1 import ListNamespacesRequest, ListNamespacesResponse

from durable_core.model import limits
from durable_core.model.errors import InvalidArgument
from durable_core.services.context import Context
from durable_core.services.namespace_facts import describe


def list_namespaces(context: Context, request: ListNamespacesRequest) -> ListNamespacesResponse:
    """Raises `InvalidArgument` for a token that is not ours. A token is the last name of the page before."""
    size = request.page_size if request.page_size > 0 else limits.namespaces_page_default
    size = min(size, limits.namespaces_page_max)
    try:
        after_name = request.next_page_token.decode()
    except UnicodeDecodeError as error:
        raise InvalidArgument("Invalid NextPageToken.") from error
    records = context.catalog.namespaces(after_name, size)
    described = [describe(record) for record in records]
    if not request.namespace_filter.include_deleted:
        deleted = NamespaceState.NAMESPACE_STATE_DELETED
        described = [one for one in described if one.namespace_info.state != deleted]
    token = records[-1].name.encode() if len(records) == size else b""
    return ListNamespacesResponse(namespaces=described, next_page_token=token)
