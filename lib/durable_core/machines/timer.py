"""A timer of the workflow: started by a command, ended once.

state     event           next
--------  --------------  --------
-         TimerStarted    pending
pending   TimerFired      ended
pending   TimerCanceled   ended
"""

from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent

from durable_core.model.errors import IllegalTransition
from durable_core.model.state import RunState, TimerInfo
from durable_core.model.times import nanos


def apply_started(state: RunState, event: HistoryEvent) -> None:
    attributes = event.timer_started_event_attributes
    # A timer of the same name may be there still whose firing waits in the buffer: this one takes its place.
    fires_at = nanos(event.event_time) + nanos(attributes.start_to_fire_timeout)
    state.timers.put(attributes.timer_id, TimerInfo(attributes.timer_id, event.event_id, fires_at))


def apply_fired(state: RunState, event: HistoryEvent) -> None:
    attributes = event.timer_fired_event_attributes
    timer = state.timers.get(attributes.timer_id)
    if timer is None:
        raise IllegalTransition(f"timer {attributes.timer_id} is not running")
    if timer.started_event_id == attributes.started_event_id:
        state.timers.remove(attributes.timer_id)


def apply_canceled(state: RunState, event: HistoryEvent) -> None:
    # A fired event that still waited in the buffer is taken back when the timer is cancelled: nothing is left to end.
    timer_id = event.timer_canceled_event_attributes.timer_id
    if timer_id in state.timers:
        state.timers.remove(timer_id)


APPLY = {
    EventType.EVENT_TYPE_TIMER_STARTED: apply_started,
    EventType.EVENT_TYPE_TIMER_FIRED: apply_fired,
    EventType.EVENT_TYPE_TIMER_CANCELED: apply_canceled,
}
