"""Fire a run's wake-up: do what is due, arm the next one, or have a closed run removed whose retention is over."""

from durable_core.engine import deadlines
from durable_core.engine.transition import Transition
from durable_core.model.tasks import DeleteRun
from durable_core.ports.wake_ups import WakeUp
from durable_core.services.context import Context


def is_awaited(context: Context, wake_up: WakeUp) -> bool:
    """Whether the run still waits for this wake-up: nothing that was armed is ever disarmed."""
    context.runs.distrust()  # The wake-up may have been armed after what was read for another one.
    state = context.runs.find(wake_up.run)
    return state is not None and state.core.armed_at == wake_up.due


def fire_wake_up(context: Context, wake_up: WakeUp) -> bool:
    """Whether the run waited for it, and so what was due is done."""
    if not is_awaited(context, wake_up):
        return False
    retention = context.namespaces.retention(wake_up.run.namespace_id)

    def decide(t: Transition) -> None:
        core = t.state.core
        if t.state.is_open:
            deadlines.fire(t)
        elif t.now >= core.closed_at + retention:
            t.service_task(DeleteRun())  # A task, for the run's end may still owe news to others.
        # Otherwise the retention was made longer: only the wake-up moves.

    context.runs.update(wake_up.run, decide, fired=True)
    return True
