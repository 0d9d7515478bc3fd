"""PROTOCOL_MESSAGE: where a message to the server stands among the commands."""

from temporalio.api.command.v1 import Command
from temporalio.api.enums.v1 import WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.protocol.v1 import Message

from durable_core.engine import updates
from durable_core.engine.completion import BadCommand, Completion, check_size, require_attributes
from durable_core.model.errors import InvalidArgument

_BAD = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_BAD_UPDATE_WORKFLOW_EXECUTION_MESSAGE


def handle(completion: Completion, command: Command) -> HistoryEvent | None:
    require_attributes(command, "protocol_message_command_attributes", _BAD)
    message_id = command.protocol_message_command_attributes.message_id
    if not message_id:
        raise BadCommand(_BAD, "MessageID is not set on ProtocolMessageCommand.")
    message = completion.messages.pop(message_id, None)
    if message is None:
        raise BadCommand(_BAD, f"ProtocolMessageCommand referenced absent message ID {message_id}")
    return receive(completion, message)


def receive(completion: Completion, message: Message) -> HistoryEvent | None:
    """Take a message in, whether a command placed it or it was left over."""
    check_size(message.body.ByteSize(), f"Message type {message.body.TypeName()}", _BAD)
    try:
        return updates.receive(completion.t, message)
    except InvalidArgument as error:
        raise BadCommand(_BAD, error.message) from error
