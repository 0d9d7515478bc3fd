"""The machine's clock, made safe against being set back.

A newcomer's trap: the wall clock may jump back (a correction from the network, a suspended machine). Event times and
deadlines must not, so within a process this clock stands still until the machine's has caught up.
"""

import time


class SystemClock:
    def __init__(self) -> None:
        self._latest = 0

    def now(self) -> int:
        now = time.time_ns()
        if now < self._latest:
            return self._latest
        self._latest = now
        return now
