"""Armed wake-ups: at most one a run that matters. They are written by `Executions.commit`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from durable_core.model.ids import RunKey


@dataclass(frozen=True, slots=True)
class WakeUp:
    run: RunKey
    due: int  # ns since the epoch


class WakeUps(Protocol):
    def arm(self, wake_up: WakeUp) -> None:
        """A committed transition armed this wake-up (a hint to whoever waits; the commit made it durable)."""

    def due(self, now: int, limit: int) -> Sequence[WakeUp]:
        """Wake-ups due at `now` or before, earliest first. They stay armed until a commit changes them."""

    def next_due(self) -> int | None:
        """When the earliest one is due, or None."""
