"""Cheap checks of every transition before it is committed: a defect stops here, not in the data.

The invariants and their numbers: docs/ARCHITECTURE.md.
"""

from durable_core.engine.transition import Transition
from durable_core.model.errors import IllegalTransition


def check(t: Transition) -> None:
    """Raise `IllegalTransition` when the transition breaks an invariant."""
    core = t.state.core
    expected = core.next_event_id - t.event_count
    for batch in t.batches:
        for event in batch:
            if event.event_id != expected:
                raise IllegalTransition(f"event {event.event_id} stands where {expected} belongs")
            expected += 1
    task = core.workflow_task
    if core.closed_at:
        if core.close_event_id != core.next_event_id - 1:
            raise IllegalTransition("events follow the closing event")
        if task is not None:
            raise IllegalTransition("a closed run has no workflow task")
        return
    if len(t.state.buffered) and (task is None or not task.started_event_id):
        raise IllegalTransition("events wait in the buffer though no workflow task is started")
