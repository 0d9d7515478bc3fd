"""FAIL_WORKFLOW_EXECUTION: a retry policy or a cron may let another run follow."""

from temporalio.api.command.v1 import Command
from temporalio.api.enums.v1 import WorkflowTaskFailedCause

from durable_core.engine import closing
from durable_core.engine.completion import BadCommand, Completion, check_size, require_attributes

_BAD = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_BAD_FAIL_WORKFLOW_EXECUTION_ATTRIBUTES


def handle(completion: Completion, command: Command) -> None:
    completion.refuse_closing_race()
    require_attributes(command, "fail_workflow_execution_command_attributes", _BAD)
    attributes = command.fail_workflow_execution_command_attributes
    if not attributes.HasField("failure"):
        raise BadCommand(_BAD, "Failure is not set on FailWorkflowExecutionCommand.")
    check_size(attributes.failure.ByteSize(), "FailWorkflowExecutionCommandAttributes.Failure", _BAD)
    closing.fail(completion.t, attributes.failure, completion.completed_event_id, command)
