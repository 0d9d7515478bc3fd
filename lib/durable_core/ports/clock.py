"""Time and identifiers, which the engine gets as values and never makes itself."""

from typing import Protocol


class Clock(Protocol):
    def now(self) -> int:
        """Nanoseconds since the epoch, UTC."""


class Ids(Protocol):
    def run_id(self, now: int) -> str:
        """A new run ID: a UUID that sorts by time (version 7), in its text form."""

    def unique(self) -> str:
        """A new random identifier (a UUID's text form)."""

    def jitter(self) -> float:
        """A random number in [0, 1): for back-off between conflicts, never for anything stored."""
