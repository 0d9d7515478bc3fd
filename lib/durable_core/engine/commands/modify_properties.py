"""MODIFY_WORKFLOW_PROPERTIES: the memo."""

from temporalio.api.command.v1 import Command
from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent, WorkflowPropertiesModifiedEventAttributes

from durable_core.engine.completion import BadCommand, Completion, check_size, require_attributes
from durable_core.model import limits
from durable_core.model.payloads import fields_size

_BAD = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_BAD_MODIFY_WORKFLOW_PROPERTIES_ATTRIBUTES


def handle(completion: Completion, command: Command) -> HistoryEvent:
    require_attributes(command, "modify_workflow_properties_command_attributes", _BAD)
    attributes = command.modify_workflow_properties_command_attributes
    if not attributes.HasField("upserted_memo"):
        raise BadCommand(_BAD, "UpsertedMemo is not set on ModifyWorkflowPropertiesCommand.")
    fields = attributes.upserted_memo.fields
    if not fields:
        raise BadCommand(_BAD, "UpsertedMemo.Fields is not set on ModifyWorkflowPropertiesCommand.")
    check_size(fields_size(fields), "ModifyWorkflowPropertiesCommandAttributes", _BAD)
    kept = sum(len(blob) for key, blob in completion.t.state.core.memo.items() if key not in fields)
    if kept + fields_size(fields) > limits.memo_bytes_max:
        detail = "ModifyWorkflowPropertiesCommandAttributes. Memo exceeds size limit."
        raise BadCommand(_BAD, detail, terminates=True)
    return completion.t.add(
        EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED,
        command=command,
        workflow_properties_modified_event_attributes=WorkflowPropertiesModifiedEventAttributes(
            workflow_task_completed_event_id=completion.completed_event_id,
            upserted_memo=attributes.upserted_memo,
        ),
    )
