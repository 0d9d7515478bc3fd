"""Custom search attributes of a namespace; messages as observed on the Temporal server 1.32 with its SQL store."""

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    ListSearchAttributesRequest,
    RemoveSearchAttributesRequest,
)
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    GetSearchAttributesRequest,
    RegisterNamespaceRequest,
    UpdateNamespaceRequest,
)

from durable_core.bootstrap import embedded
from durable_core.config import Settings
from durable_core.engine.checks import PREDEFINED_SEARCH_ATTRIBUTES
from durable_core.model.errors import InvalidArgument, NamespaceNotFound
from durable_core.model.search_attributes import FIELD_COUNTS, SYSTEM_TYPES
from durable_core.services.frontend.add_search_attributes import add_search_attributes
from durable_core.services.frontend.describe_namespace import describe_namespace
from durable_core.services.frontend.get_search_attributes import get_search_attributes
from durable_core.services.frontend.list_search_attributes import list_search_attributes
from durable_core.services.frontend.register_namespace import register_namespace
from durable_core.services.frontend.remove_search_attributes import remove_search_attributes
from durable_core.services.frontend.update_namespace import update_namespace
from perdure.dev.notifications import InProcessNotifications

TEXT = IndexedValueType.INDEXED_VALUE_TYPE_TEXT
KEYWORD = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
INT = IndexedValueType.INDEXED_VALUE_TYPE_INT


@pytest.fixture
def context():
    system = embedded(Settings(), InProcessNotifications())
    register_namespace(
        system.context,
        RegisterNamespaceRequest(
            namespace="shop", workflow_execution_retention_period=Duration(seconds=86_400)
        ),
    )
    yield system.context
    system.close()


def add(context, attributes, namespace="shop"):
    add_search_attributes(
        context, AddSearchAttributesRequest(namespace=namespace, search_attributes=attributes)
    )


def remove(context, *names, namespace="shop"):
    remove_search_attributes(
        context, RemoveSearchAttributesRequest(namespace=namespace, search_attributes=names)
    )


def custom(context):
    answer = list_search_attributes(context, ListSearchAttributesRequest(namespace="shop"))
    return dict(answer.custom_attributes)


def aliases(context):
    answer = describe_namespace(context, DescribeNamespaceRequest(namespace="shop"))
    return dict(answer.config.custom_search_attribute_aliases)


def update_aliases(context, wanted):
    config = NamespaceConfig(custom_search_attribute_aliases=wanted)
    update_namespace(context, UpdateNamespaceRequest(namespace="shop", config=config))


def test_an_added_one_is_listed_at_once_and_is_an_alias_of_a_field(context):
    assert custom(context) == {}
    add(context, {"Customer": KEYWORD, "Amount": INT})
    assert custom(context) == {"Customer": KEYWORD, "Amount": INT}
    assert aliases(context) == {"Keyword01": "Customer", "Int01": "Amount"}


def test_adding_one_that_exists_changes_nothing_even_with_another_type(context):
    add(context, {"Customer": KEYWORD})
    add(context, {"Customer": INT, "Amount": INT})
    assert custom(context) == {"Customer": KEYWORD, "Amount": INT}


@pytest.mark.parametrize("value_type, count", FIELD_COUNTS.items())
def test_a_namespace_has_so_many_of_each_type_and_no_more(context, value_type, count):
    add(context, {f"A{number}": value_type for number in range(count)})
    with pytest.raises(
        InvalidArgument, match=f"^Unable to create .* more than {count} search attribute of type"
    ):
        add(context, {"One": value_type, "More": TEXT if value_type != TEXT else INT})
    assert len(custom(context)) == count


def test_a_freed_field_is_used_again(context):
    add(context, {"A": TEXT, "B": TEXT, "C": TEXT})
    remove(context, "B")
    add(context, {"D": TEXT})
    assert aliases(context) == {"Text01": "A", "Text02": "D", "Text03": "C"}


@pytest.mark.parametrize(
    "attributes, message",
    [
        ({}, "SearchAttributes are not set on request."),
        ({"X": 99}, "Unknown search attribute type: 99."),
        (
            {"X": 0},
            "Unable to create search attributes: cannot have more than 0 search attribute of type Unspecified.",
        ),
        ({"WorkflowId": KEYWORD}, "Search attribute WorkflowId is reserved by system."),
        ({"BuildIds": KEYWORD}, "Search attribute BuildIds is reserved by system."),
        ({"TemporalFoo": KEYWORD}, "Search attribute TemporalFoo is reserved by system."),
    ],
)
def test_what_cannot_be_added_says_why(context, attributes, message):
    with pytest.raises(InvalidArgument) as raised:
        add(context, attributes)
    assert raised.value.message == message
    assert custom(context) == {}


def test_removing_is_of_custom_ones_alone_and_all_or_nothing(context):
    add(context, {"A": KEYWORD, "B": KEYWORD})
    for name in ("WorkflowId", "BuildIds", "Keyword01"):
        with pytest.raises(InvalidArgument, match=f"^Unable to remove non-custom search attributes: {name}"):
            remove(context, "A", name)
    assert set(custom(context)) == {"A", "B"}
    remove(context, "A", "A", "Unknown")
    assert set(custom(context)) == {"B"}
    with pytest.raises(InvalidArgument, match="SearchAttributes are not set"):
        remove(context)


@pytest.mark.parametrize("namespace, error", [("", InvalidArgument), ("no", NamespaceNotFound)])
def test_a_namespace_is_needed(context, namespace, error):
    with pytest.raises(error):
        add(context, {"A": KEYWORD}, namespace)
    with pytest.raises(error):
        remove(context, "A", namespace=namespace)
    with pytest.raises(error):
        list_search_attributes(context, ListSearchAttributesRequest(namespace=namespace))


def test_those_of_the_system_are_listed_with_the_predefined_ones(context):
    answer = list_search_attributes(context, ListSearchAttributesRequest(namespace="shop"))
    assert dict(answer.system_attributes) == {**SYSTEM_TYPES, **PREDEFINED_SEARCH_ATTRIBUTES}


def test_without_a_namespace_the_fields_are_told(context):
    keys = get_search_attributes(context, GetSearchAttributesRequest()).keys
    assert keys["Keyword10"] == KEYWORD
    assert keys["WorkflowId"] == KEYWORD
    assert len(keys) == len(SYSTEM_TYPES) + len(PREDEFINED_SEARCH_ATTRIBUTES) + sum(FIELD_COUNTS.values())


def test_an_alias_can_be_set_and_freed_by_updating_the_namespace(context):
    update_aliases(context, {"Keyword09": "Direct"})
    update_aliases(context, {"Keyword09": "Direct"})
    assert custom(context) == {"Direct": KEYWORD}
    with pytest.raises(InvalidArgument, match="already allocated"):
        update_aliases(context, {"Keyword09": "Other"})
    with pytest.raises(InvalidArgument, match="Zip01 is not a field"):
        update_aliases(context, {"Zip01": "z"})
    update_aliases(context, {"Keyword09": ""})
    assert custom(context) == {}
