"""What a call costs: the server's CPU time where its process is known, and the time that passed.

Nothing here judges: a machine that does other things at the same time has other numbers.

The one thing a newcomer gets wrong: a process's CPU time is counted in hundredths of a second, so a cost is that of
many calls together.
"""

import time
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Cost:
    """Milliseconds a call; the CPU time is None for a server whose process is not known."""

    cpu: float | None
    passed: float

    def __str__(self) -> str:
        cpu = "" if self.cpu is None else f"{self.cpu:.2f} ms CPU, "
        return f"{cpu}{self.passed:.2f} ms passed"


class Meter:
    def __init__(self, pid: int | None) -> None:
        self._process = None if pid is None else psutil.Process(pid)

    async def cost(self, calls: Iterable[Awaitable[object]]) -> Cost:
        """Make the calls one after the other, and tell what each cost on average."""
        cpu, began, count = self._cpu(), time.perf_counter(), 0
        for call in calls:
            await call
            count += 1
        passed = (time.perf_counter() - began) * 1000 / count
        return Cost(None if self._process is None else (self._cpu() - cpu) * 1000 / count, passed)

    def compare(self, what: str, small: Cost, large: Cost) -> None:
        """Say what both cost and how they relate."""
        ratio = large.cpu / small.cpu if small.cpu and large.cpu else large.passed / small.passed
        print(f"\n{what}\n  small: {small}\n  large: {large}\n  ratio: {ratio:.2f}")

    def _cpu(self) -> float:
        if self._process is None:
            return 0.0
        times = self._process.cpu_times()
        return times.user + times.system
