"""Which handler serves which command, and which commands end the run."""

from collections.abc import Callable, Sequence

from temporalio.api.command.v1 import Command
from temporalio.api.enums.v1 import CommandType as C
from temporalio.api.history.v1 import HistoryEvent

from durable_core.engine.commands import (
    cancel_external,
    cancel_timer,
    cancel_workflow,
    complete_workflow,
    continue_as_new,
    fail_workflow,
    modify_properties,
    protocol_message,
    record_marker,
    request_cancel_activity,
    schedule_activity,
    signal_external,
    start_child,
    start_timer,
    upsert_search_attributes,
)
from durable_core.engine.completion import Completion
from durable_core.model.errors import InvalidArgument, Unimplemented

HANDLERS: dict[int, Callable[[Completion, Command], HistoryEvent | None]] = {
    C.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK: schedule_activity.handle,
    C.COMMAND_TYPE_REQUEST_CANCEL_ACTIVITY_TASK: request_cancel_activity.handle,
    C.COMMAND_TYPE_START_TIMER: start_timer.handle,
    C.COMMAND_TYPE_CANCEL_TIMER: cancel_timer.handle,
    C.COMMAND_TYPE_RECORD_MARKER: record_marker.handle,
    C.COMMAND_TYPE_START_CHILD_WORKFLOW_EXECUTION: start_child.handle,
    C.COMMAND_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION: signal_external.handle,
    C.COMMAND_TYPE_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION: cancel_external.handle,
    C.COMMAND_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES: upsert_search_attributes.handle,
    C.COMMAND_TYPE_MODIFY_WORKFLOW_PROPERTIES: modify_properties.handle,
    C.COMMAND_TYPE_PROTOCOL_MESSAGE: protocol_message.handle,
    C.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION: complete_workflow.handle,
    C.COMMAND_TYPE_FAIL_WORKFLOW_EXECUTION: fail_workflow.handle,
    C.COMMAND_TYPE_CANCEL_WORKFLOW_EXECUTION: cancel_workflow.handle,
    C.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION: continue_as_new.handle,
}

CLOSING = frozenset(
    (
        C.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION,
        C.COMMAND_TYPE_FAIL_WORKFLOW_EXECUTION,
        C.COMMAND_TYPE_CANCEL_WORKFLOW_EXECUTION,
        C.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION,
    )
)

# What a command may ask for that is not there yet, and how it asks.
_LATER_FIELDS: dict[int, tuple[str, Callable[[Command], bool]]] = {
    C.COMMAND_TYPE_START_CHILD_WORKFLOW_EXECUTION: (
        "versioning_override",
        lambda command: command.start_child_workflow_execution_command_attributes.HasField(
            "versioning_override"
        ),
    ),
    C.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION: (
        "initial_versioning_behavior",
        lambda command: bool(
            command.continue_as_new_workflow_execution_command_attributes.initial_versioning_behavior
        ),
    ),
}

_LATER = frozenset(
    (
        C.COMMAND_TYPE_SCHEDULE_NEXUS_OPERATION,
        C.COMMAND_TYPE_REQUEST_CANCEL_NEXUS_OPERATION,
    )
)


def name(command_type: int) -> str:
    """A command type as messages show it."""
    if command_type not in C.values():
        return str(command_type)
    words = C.Name(command_type).removeprefix("COMMAND_TYPE_").split("_")  # type: ignore[arg-type]
    return "".join(word.capitalize() for word in words)


def check_sequence(commands: Sequence[Command]) -> None:
    """A closing command comes last, and every command is known. The workflow task stays started otherwise."""
    closing = 0
    for command in commands:
        if closing:
            listed = ", ".join(name(each.command_type) for each in commands)
            raise InvalidArgument(
                f"invalid command sequence: [{listed}], command {name(closing)} must be the last command."
            )
        if command.command_type in CLOSING:
            closing = command.command_type
        elif command.command_type in _LATER:
            raise Unimplemented(f"The command {name(command.command_type)} is not supported yet.")
        elif command.command_type not in HANDLERS:
            raise InvalidArgument(f"unknown command type: {name(command.command_type)}")
        _refuse_what_comes_later(command)


def _refuse_what_comes_later(command: Command) -> None:
    field, asks_for = _LATER_FIELDS.get(command.command_type, ("", None))
    if asks_for is not None and asks_for(command):
        raise Unimplemented(f"{field} of {name(command.command_type)} is not supported yet.")


def apply_all(completion: Completion, commands: Sequence[Command]) -> None:
    """Apply the commands in order, then the messages that none of them placed.

    Raises `BadCommand` when one of them is not acceptable.
    """
    for command in commands:
        HANDLERS[command.command_type](completion, command)
    if completion.t.state.is_open:
        for message in list(completion.messages.values()):
            protocol_message.receive(completion, message)
    completion.messages.clear()
