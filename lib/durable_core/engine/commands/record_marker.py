"""RECORD_MARKER: side effects, versions, local activities: what a worker wants to find again on replay."""

from temporalio.api.command.v1 import Command
from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent, MarkerRecordedEventAttributes

from durable_core.engine import checks
from durable_core.engine.completion import BadCommand, Completion, check_size, require_attributes
from durable_core.model import limits

_BAD = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_BAD_RECORD_MARKER_ATTRIBUTES


def handle(completion: Completion, command: Command) -> HistoryEvent:
    require_attributes(command, "record_marker_command_attributes", _BAD)
    attributes = command.record_marker_command_attributes
    name = attributes.marker_name
    if not name:
        raise BadCommand(_BAD, "MarkerName is not set on RecordMarkerCommand.")
    if checks.too_long(name):
        detail = f"MarkerName={name} Length={len(name)} Limit={limits.id_length_max}"
        raise BadCommand(_BAD, f"MarkerName on RecordMarkerCommand exceeds length limit. {detail}")
    size = sum(len(key) + value.ByteSize() for key, value in attributes.details.items())
    check_size(size, "RecordMarkerCommandAttributes.Details", _BAD)
    return completion.t.add(
        EventType.EVENT_TYPE_MARKER_RECORDED,
        command=command,
        marker_recorded_event_attributes=MarkerRecordedEventAttributes(
            marker_name=name,
            details=attributes.details,
            workflow_task_completed_event_id=completion.completed_event_id,
            header=attributes.header if attributes.HasField("header") else None,
            failure=attributes.failure if attributes.HasField("failure") else None,
        ),
    )
