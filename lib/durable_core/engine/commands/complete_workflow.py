"""COMPLETE_WORKFLOW_EXECUTION."""

from temporalio.api.command.v1 import Command
from temporalio.api.enums.v1 import WorkflowTaskFailedCause

from durable_core.engine import closing
from durable_core.engine.completion import Completion, check_size, require_attributes

_BAD_SIZE = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_BAD_SCHEDULE_ACTIVITY_ATTRIBUTES
_BAD = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_BAD_COMPLETE_WORKFLOW_EXECUTION_ATTRIBUTES


def handle(completion: Completion, command: Command) -> None:
    completion.refuse_closing_race()
    require_attributes(command, "complete_workflow_execution_command_attributes", _BAD)
    attributes = command.complete_workflow_execution_command_attributes
    # The cause is that of an activity because it is so on the Temporal server.
    check_size(attributes.result.ByteSize(), "CompleteWorkflowExecutionCommandAttributes.Result", _BAD_SIZE)
    result = attributes.result if attributes.HasField("result") else None
    closing.complete(completion.t, result, completion.completed_event_id, command)
