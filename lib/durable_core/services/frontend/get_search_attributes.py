"""GetSearchAttributes: the search attributes that every namespace has, and the fields of custom ones.

A newcomer's trap: it names no namespace, so it tells fields such as `Keyword01` and never what a namespace calls them.
That is what ListSearchAttributes is for.
"""

from temporalio.api.workflowservice.v1 import GetSearchAttributesRequest, GetSearchAttributesResponse

from durable_core.engine.checks import PREDEFINED_SEARCH_ATTRIBUTES
from durable_core.model.search_attributes import FIELD_TYPES, SYSTEM_TYPES
from durable_core.services.context import Context


def get_search_attributes(
    context: Context, request: GetSearchAttributesRequest
) -> GetSearchAttributesResponse:
    del context, request
    return GetSearchAttributesResponse(keys={**SYSTEM_TYPES, **PREDEFINED_SEARCH_ATTRIBUTES, **FIELD_TYPES})
