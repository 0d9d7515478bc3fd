"""How long to wait before trying again: exponential, with full jitter, so that hundreds of polls do not return as one.

What does not live here: what is worth another try. A newcomer's trap: a delay may be almost zero; that is what spreads
the callers, so the ceiling is what grows and never a floor.
"""

import random

BASE_SECONDS = 0.1
CEILING_SECONDS = 10.0
_DOUBLINGS_MAX = 10


def delay_seconds(
    failures: int, base_seconds: float = BASE_SECONDS, ceiling_seconds: float = CEILING_SECONDS
) -> float:
    """The delay after that many failures in a row (1 is the first)."""
    ceiling = min(ceiling_seconds, base_seconds * 2.0 ** min(failures - 1, _DOUBLINGS_MAX))
    return random.uniform(0.0, ceiling)  # noqa: S311 - it spreads callers and guards nothing
