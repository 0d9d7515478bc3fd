"""Fire a run's wake-up: do what is due, arm the next one, or remove a closed run whose retention is over."""

from durable_core.engine import deadlines
from durable_core.engine.transition import Transition
from durable_core.ports.wake_ups import WakeUp
from durable_core.services.context import Context


def fire_wake_up(context: Context, wake_up: WakeUp) -> None:
    context.runs.distrust()  # The wake-up may have been armed after what was read for another one.
    state = context.runs.find(wake_up.run)
    if state is None or state.core.armed_at != wake_up.due:
        return
    if not state.is_open:
        if context.clock.now() >= state.core.closed_at + context.namespaces.retention(
            wake_up.run.namespace_id
        ):
            context.runs.delete(wake_up.run)
            return
        context.runs.update(wake_up.run, _rearm, fired=True)
        return
    context.runs.update(wake_up.run, deadlines.fire, fired=True)


def _rearm(t: Transition) -> None:
    """The retention was made longer: only the wake-up moves."""
