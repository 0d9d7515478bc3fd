"""CANCEL_WORKFLOW_EXECUTION: the workflow answers a request to cancel."""

from temporalio.api.command.v1 import Command
from temporalio.api.enums.v1 import WorkflowTaskFailedCause

from durable_core.engine import closing
from durable_core.engine.completion import Completion, require_attributes

_BAD = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_BAD_CANCEL_WORKFLOW_EXECUTION_ATTRIBUTES


def handle(completion: Completion, command: Command) -> None:
    completion.refuse_closing_race()
    require_attributes(command, "cancel_workflow_execution_command_attributes", _BAD)
    attributes = command.cancel_workflow_execution_command_attributes
    details = attributes.details if attributes.HasField("details") else None
    closing.cancel(completion.t, details, completion.completed_event_id, command)
