"""A worker's answers to updates: messages, and the commands that say where they stand."""

from collections.abc import Sequence

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message as AnyBody
from temporalio.api.command.v1 import Command
from temporalio.api.common.v1 import Payloads
from temporalio.api.enums.v1 import CommandType
from temporalio.api.failure.v1 import Failure
from temporalio.api.protocol.v1 import Message
from temporalio.api.update.v1 import Acceptance, Meta, Outcome, Rejection, Request, Response


def _message(update_id: str, what: str, body: AnyBody) -> Message:
    packed = AnyMessage()
    packed.Pack(body)
    return Message(id=f"{update_id}/{what}", protocol_instance_id=update_id, body=packed)


def accept(sent: Message) -> Message:
    request = Request()
    sent.body.Unpack(request)
    acceptance = Acceptance(
        accepted_request_message_id=sent.id,
        accepted_request_sequencing_event_id=sent.event_id,
        accepted_request=request,
    )
    return _message(sent.protocol_instance_id, "accept", acceptance)


def complete(update_id: str) -> Message:
    response = Response(meta=Meta(update_id=update_id), outcome=Outcome(success=Payloads()))
    return _message(update_id, "complete", response)


def reject(sent: Message) -> Message:
    rejection = Rejection(rejected_request_message_id=sent.id, failure=Failure(message="no"))
    return _message(sent.protocol_instance_id, "reject", rejection)


def placed(messages: Sequence[Message]) -> list[Command]:
    """A command for each message."""
    commands = []
    for message in messages:
        command = Command(command_type=CommandType.COMMAND_TYPE_PROTOCOL_MESSAGE)
        command.protocol_message_command_attributes.message_id = message.id
        commands.append(command)
    return commands
