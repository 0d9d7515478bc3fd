"""A clock that moves only when it is told to."""


class ManualClock:
    def __init__(self, now: int = 0) -> None:
        self._now = now

    def now(self) -> int:
        return self._now

    def advance(self, nanoseconds: int) -> None:
        self.set(self._now + nanoseconds)

    def set(self, now: int) -> None:
        """Raises `ValueError` for a time that is past: no clock of ours goes back."""
        if now < self._now:
            raise ValueError(f"the clock stands at {self._now} and cannot go back to {now}")
        self._now = now
