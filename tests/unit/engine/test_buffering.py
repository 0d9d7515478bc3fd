"""The order in which events leave the buffer, and the references they get on the way."""

from temporalio.api.enums.v1 import EventType as T
from temporalio.api.history.v1 import HistoryEvent

from durable_core.engine import buffering
from durable_core.model.state import BUFFERED_EVENT_ID
from tests.properties.test_illegal_events import field_of


def event(event_type, **references):
    made = HistoryEvent(event_id=BUFFERED_EVENT_ID, event_type=event_type)
    attributes = getattr(made, field_of(event_type))
    attributes.SetInParent()
    for name, value in references.items():
        setattr(attributes, name, value)
    return made


STARTED_X = event(T.EVENT_TYPE_ACTIVITY_TASK_STARTED, scheduled_event_id=5)
STARTED_Y = event(T.EVENT_TYPE_ACTIVITY_TASK_STARTED, scheduled_event_id=6)
COMPLETED_X = event(
    T.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, scheduled_event_id=5, started_event_id=BUFFERED_EVENT_ID
)
FAILED_Y = event(T.EVENT_TYPE_ACTIVITY_TASK_FAILED, scheduled_event_id=6, started_event_id=BUFFERED_EVENT_ID)
SIGNALED = event(T.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED)
FIRED = event(T.EVENT_TYPE_TIMER_FIRED, started_event_id=7)
CANCEL = event(T.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED)
CHILD_STARTED = event(T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED, initiated_event_id=8)
CHILD_CLOSED = event(
    T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED,
    initiated_event_id=8,
    started_event_id=BUFFERED_EVENT_ID,
)


def numbered(events):
    """Copies with the IDs 20, 21, ..."""
    copies = []
    for number, one in enumerate(events, 20):
        copy = HistoryEvent()
        copy.CopyFrom(one)
        copy.event_id = number
        copies.append(copy)
    return copies


def test_what_ends_an_activity_or_a_child_comes_last_and_all_else_stays_in_order():
    """As observed on the Temporal server: started events stay where the answer came in, answers move to the end."""
    came = [
        SIGNALED,
        STARTED_Y,
        FAILED_Y,
        SIGNALED,
        CHILD_STARTED,
        CHILD_CLOSED,
        STARTED_X,
        COMPLETED_X,
        CANCEL,
        FIRED,
    ]
    assert buffering.ordered(came) == [
        SIGNALED,
        STARTED_Y,
        SIGNALED,
        CHILD_STARTED,
        STARTED_X,
        CANCEL,
        FIRED,
        FAILED_Y,
        CHILD_CLOSED,
        COMPLETED_X,
    ]


def test_ends_refer_to_the_started_events_that_came_with_them():
    events = numbered([STARTED_Y, CHILD_STARTED, STARTED_X, FAILED_Y, CHILD_CLOSED, COMPLETED_X])
    assert buffering.wire(events) == {6: 20, 8: 21, 5: 22}
    assert events[3].activity_task_failed_event_attributes.started_event_id == 20
    assert events[4].child_workflow_execution_terminated_event_attributes.started_event_id == 21
    assert events[5].activity_task_completed_event_attributes.started_event_id == 22


def test_an_end_whose_start_is_in_the_history_keeps_its_reference():
    timed_out = event(T.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT, scheduled_event_id=5, started_event_id=0)
    closed = event(T.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED, initiated_event_id=8, started_event_id=12)
    events = numbered([timed_out, closed, FIRED])
    assert buffering.wire(events) == {}
    assert events[0].activity_task_timed_out_event_attributes.started_event_id == 0
    assert events[1].child_workflow_execution_completed_event_attributes.started_event_id == 12
    assert events[2].timer_fired_event_attributes.started_event_id == 7


def test_which_activity_an_event_ends():
    assert buffering.ended_activity(COMPLETED_X) == 5
    assert buffering.ended_activity(FAILED_Y) == 6
    assert buffering.ended_activity(STARTED_X) == 0
    assert buffering.ended_activity(SIGNALED) == 0
