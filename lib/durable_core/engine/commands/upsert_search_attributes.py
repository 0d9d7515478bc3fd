"""UPSERT_WORKFLOW_SEARCH_ATTRIBUTES."""

from temporalio.api.command.v1 import Command
from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent, UpsertWorkflowSearchAttributesEventAttributes

from durable_core.engine import checks
from durable_core.engine.completion import BadCommand, Completion, check_size, require_attributes
from durable_core.model.errors import InvalidArgument
from durable_core.model.payloads import fields_size

_BAD = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_BAD_SEARCH_ATTRIBUTES


def handle(completion: Completion, command: Command) -> HistoryEvent:
    require_attributes(command, "upsert_workflow_search_attributes_command_attributes", _BAD)
    attributes = command.upsert_workflow_search_attributes_command_attributes
    if not attributes.HasField("search_attributes"):
        raise BadCommand(_BAD, "SearchAttributes is not set on UpsertWorkflowSearchAttributesCommand.")
    if not attributes.search_attributes.indexed_fields:
        raise BadCommand(_BAD, "IndexedFields is not set on UpsertWorkflowSearchAttributesCommand.")
    try:
        checks.check_search_attributes(attributes.search_attributes, completion.namespace)
    except InvalidArgument as error:
        raise BadCommand(_BAD, error.message) from error
    size = fields_size(attributes.search_attributes.indexed_fields)
    check_size(size, "UpsertWorkflowSearchAttributesCommandAttributes", _BAD)
    return completion.t.add(
        EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
        command=command,
        upsert_workflow_search_attributes_event_attributes=UpsertWorkflowSearchAttributesEventAttributes(
            workflow_task_completed_event_id=completion.completed_event_id,
            search_attributes=checks.typed_search_attributes(
                attributes.search_attributes, completion.namespace
            ),
        ),
    )
