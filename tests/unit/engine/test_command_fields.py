"""Every field of every command that is served is used, a hint with a reason, or refused."""

import inspect
import re
from pathlib import Path

import pytest
from temporalio.api.command.v1 import Command
from temporalio.api.enums.v1 import CommandType as C
from temporalio.api.enums.v1 import ContinueAsNewVersioningBehavior

from durable_core.engine import command_table, transition
from durable_core.model.errors import Unimplemented

PREFIX = "COMMAND_TYPE_"


def fields():
    for number in command_table.HANDLERS:
        kind = C.Name(number).removeprefix(PREFIX)
        attributes = Command.DESCRIPTOR.fields_by_name[f"{kind.lower()}_command_attributes"]
        for field in attributes.message_type.fields:
            yield pytest.param(number, field.name, id=f"{kind}.{field.name}")


@pytest.mark.parametrize("number, field", list(fields()))
def test_no_field_of_a_command_is_ignored_in_silence(number, field):
    module = Path(inspect.getfile(command_table.HANDLERS[number])).read_text()
    refused, _ = command_table._LATER_FIELDS.get(number, ("", None))
    assert re.search(rf"\b{field}\b", module) or field == refused, f"nothing reads {field}: use or refuse it"


def test_what_every_command_carries_goes_to_its_event():
    read = inspect.getsource(transition)
    own = {field.name for field in Command.DESCRIPTOR.fields if not field.name.endswith("_attributes")}
    assert own - {"command_type"} == {name for name in own if f"command.{name}" in read}


def versioned_child():
    command = Command(command_type=C.COMMAND_TYPE_START_CHILD_WORKFLOW_EXECUTION)
    command.start_child_workflow_execution_command_attributes.versioning_override.auto_upgrade = True
    return command


def versioned_continuation():
    command = Command(command_type=C.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION)
    command.continue_as_new_workflow_execution_command_attributes.initial_versioning_behavior = (
        ContinueAsNewVersioningBehavior.CONTINUE_AS_NEW_VERSIONING_BEHAVIOR_AUTO_UPGRADE
    )
    return command


@pytest.mark.parametrize(
    "command, field",
    [(versioned_child(), "versioning_override"), (versioned_continuation(), "initial_versioning_behavior")],
    ids=["child", "continuation"],
)
def test_versioning_of_what_a_command_starts_is_refused_and_named(command, field):
    with pytest.raises(Unimplemented, match=f"{field} of .* is not supported yet"):
        command_table.check_sequence([command])
    command.ClearField(command.WhichOneof("attributes"))
    command_table.check_sequence([command])
