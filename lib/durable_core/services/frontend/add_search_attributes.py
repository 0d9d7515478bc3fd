"""AddSearchAttributes: give a namespace custom search attributes.

A newcomer's trap: to add one that exists changes nothing and is no error, even if the type is another one. That is the
Temporal server's behaviour, and set-up scripts that run twice rely on it.
"""

from collections.abc import Mapping

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, AddSearchAttributesResponse
from temporalio.api.workflowservice.v1 import DescribeNamespaceResponse

from durable_core.engine.checks import PREDEFINED_SEARCH_ATTRIBUTES
from durable_core.model.errors import InvalidArgument
from durable_core.model.search_attributes import SYSTEM_TYPES, fields_of, type_word
from durable_core.services.context import Context
from durable_core.services.namespace_facts import change

_RESERVED_PREFIX = "Temporal"


def add_search_attributes(
    context: Context, request: AddSearchAttributesRequest
) -> AddSearchAttributesResponse:
    """Raises `InvalidArgument` and `NamespaceNotFound`; then none of them was added."""
    if not request.search_attributes:
        raise InvalidArgument("SearchAttributes are not set on request.")
    if not request.namespace:
        raise InvalidArgument("Namespace is not set on request.")
    for name, value_type in request.search_attributes.items():
        _check(name, value_type)
    change(context, request.namespace, lambda said: _decide(said, request.search_attributes))
    return AddSearchAttributesResponse()


def _check(name: str, value_type: "IndexedValueType.ValueType") -> None:
    if value_type not in IndexedValueType.values():
        raise InvalidArgument(f"Unknown search attribute type: {value_type}.")
    if name in SYSTEM_TYPES or name in PREDEFINED_SEARCH_ATTRIBUTES or name.startswith(_RESERVED_PREFIX):
        raise InvalidArgument(f"Search attribute {name} is reserved by system.")


def _decide(said: DescribeNamespaceResponse, wanted: Mapping[str, "IndexedValueType.ValueType"]) -> None:
    aliases = said.config.custom_search_attribute_aliases
    for name, value_type in sorted(wanted.items()):
        if not name or name in aliases.values():
            continue
        fields = fields_of(value_type)
        free = next((field for field in fields if field not in aliases), None)
        if free is None:
            raise InvalidArgument(
                f"Unable to create search attributes: cannot have more than {len(fields)} "
                f"search attribute of type {type_word(value_type)}."
            )
        aliases[free] = name
