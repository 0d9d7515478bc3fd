"""An update: a request to a running workflow that its worker answers.

    state      what                                          next
    ---------  --------------------------------------------  ---------
    -          admitted (outside history)                    admitted
    -          WorkflowExecutionUpdateAdmitted (by a reset)  admitted
    admitted   sent with a workflow task (outside history)   sent
    sent       the task failed or timed out                  sent, and sent again with the next one
    sent       WorkflowExecutionUpdateAccepted               accepted
    sent       rejected (outside history)                    rejected, forgotten after a while
    accepted   WorkflowExecutionUpdateCompleted              completed

An accepted update whose run closes has failed; that is read from the two facts and written nowhere.
"""

from msgspec.structs import replace
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent

from durable_core.model.errors import IllegalTransition
from durable_core.model.state import RunState, UpdateInfo, UpdateStage
from durable_core.model.times import nanos

OPEN = (UpdateStage.ADMITTED, UpdateStage.SENT)


def apply_admitted(state: RunState, event: HistoryEvent) -> None:
    request = event.workflow_execution_update_admitted_event_attributes.request
    update_id = request.meta.update_id
    if update_id in state.updates:
        raise IllegalTransition(f"update {update_id} is known already")
    state.updates.put(
        update_id,
        UpdateInfo(
            update_id,
            UpdateStage.ADMITTED,
            request=request.SerializeToString(),
            changed_at=nanos(event.event_time),
            admitted_event_id=event.event_id,
        ),
    )


def apply_accepted(state: RunState, event: HistoryEvent) -> None:
    attributes = event.workflow_execution_update_accepted_event_attributes
    update_id = attributes.protocol_instance_id
    info = state.updates.get(update_id)
    if info is not None and info.stage not in OPEN:
        raise IllegalTransition(f"update {update_id} is past its acceptance")
    state.updates.put(
        update_id,
        UpdateInfo(
            update_id,
            UpdateStage.ACCEPTED,
            accepted_event_id=event.event_id,
            changed_at=nanos(event.event_time),
        ),
    )


def apply_completed(state: RunState, event: HistoryEvent) -> None:
    update_id = event.workflow_execution_update_completed_event_attributes.meta.update_id
    info = state.updates.get(update_id)
    if info is None or info.stage != UpdateStage.ACCEPTED:
        raise IllegalTransition(f"update {update_id} is not accepted")
    state.updates.put(
        update_id,
        replace(
            info,
            stage=UpdateStage.COMPLETED,
            completed_event_id=event.event_id,
            changed_at=nanos(event.event_time),
        ),
    )


APPLY = {
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ADMITTED: apply_admitted,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED: apply_accepted,
    EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED: apply_completed,
}
