"""The method table: what it knows, and what it answers to what it does not know."""

import pytest

from durable_core.model.errors import Code, Unimplemented
from durable_core.services.calls import Rpc
from durable_core.wire.methods import SERVICES, MethodTable
from tests.unit.wire.tables import SERVICE, answered, small_table


def test_every_method_of_every_descriptor_is_known():
    table = small_table()
    for service, descriptor in SERVICES.items():
        for method in descriptor.methods:
            entry = table.by_path[f"/{service}/{method.name}"]
            assert entry.request.DESCRIPTOR.full_name == method.input_type.full_name
            assert entry.response.DESCRIPTOR.full_name == method.output_type.full_name


def test_an_implemented_method_is_found_with_its_function():
    assert small_table().find(f"/{SERVICE}/DescribeNamespace").rpc == Rpc(answered)


@pytest.mark.parametrize(
    "path, message",
    [
        (f"/{SERVICE}/PauseActivity", "method PauseActivity is not implemented by this server yet"),
        (f"/{SERVICE}/Nope", f"unknown method Nope for service {SERVICE}"),
        ("/foo.Bar/Baz", "unknown service foo.Bar"),
    ],
)
def test_what_has_no_function_is_unimplemented_and_says_which_part_is_missing(path, message):
    with pytest.raises(Unimplemented) as raised:
        small_table().find(path)
    assert raised.value.message == message
    assert raised.value.code == Code.UNIMPLEMENTED


@pytest.mark.parametrize("implemented", [{"foo.Bar": {}}, {SERVICE: {"Nope": Rpc(answered)}}])
def test_a_table_of_functions_for_methods_that_do_not_exist_is_refused(implemented):
    with pytest.raises(ValueError, match="no such"):
        MethodTable(implemented)
