"""Wake-ups that arrive from the timer queue: waiting out what is left where somebody waits for them, then firing.

What does not live here: what is due and what it does (`services.timers`, `engine.deadlines`).
A newcomer's trap: the message is early by up to a second, or by minutes when a schedule sent it; and this machine's
clock, by which the run's times were written, is what says so.
"""

from collections.abc import Callable
from dataclasses import dataclass

from durable_core.adapters.aws.wake_ups import SqsWakeUps
from durable_core.model.times import SECOND
from durable_core.ports.clock import Clock
from durable_core.ports.wake_ups import WakeUp

WAITED_OUT_MAX = 2 * SECOND
"""What is further away goes back into the queue: a function that sleeps is paid for."""

FIRED, EARLY, NOT_AWAITED = "fired", "early", "not awaited"


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a wake-up: `fired` this `late`, in ns, `early` and sent back, or `not awaited`."""

    outcome: str
    late: int = 0


class DueWakeUps:
    def __init__(
        self,
        fire: Callable[[WakeUp], bool],
        is_awaited: Callable[[WakeUp], bool],
        wake_ups: SqsWakeUps,
        clock: Clock,
        pause: Callable[[float], None],
    ) -> None:
        """`fire` says whether the run waited for it. `pause` waits that many seconds."""
        self._fire = fire
        self._is_awaited = is_awaited
        self._wake_ups = wake_ups
        self._clock = clock
        self._pause = pause

    def take(self, wake_up: WakeUp) -> Taken:
        """Fire it at its time, which may be up to `WAITED_OUT_MAX` away. What `fire` raises passes through."""
        left = wake_up.due - self._clock.now()
        if left > WAITED_OUT_MAX:
            self._wake_ups.arm([wake_up])
            return Taken(EARLY)
        if left > 0 and not self._is_awaited(wake_up):
            # Most are of runs that have gone on meanwhile, and waiting is paid for.
            return Taken(NOT_AWAITED)
        while (left := wake_up.due - self._clock.now()) > 0:
            self._pause(left / SECOND)
        if not self._fire(wake_up):
            return Taken(NOT_AWAITED)
        return Taken(FIRED, self._clock.now() - wake_up.due)
