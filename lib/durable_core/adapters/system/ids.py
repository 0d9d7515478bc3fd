"""Identifiers from the machine's randomness.

Run IDs are UUIDs of version 7 (RFC 9562): milliseconds first, so that they sort by time, then the fraction of the
millisecond in 12 bits, then 62 random bits.
"""

import os
import random

NS_PER_MS = 1_000_000
FRACTION_BITS = 12
VARIANT = 0b10 << 62
BELOW_VARIANT = (1 << 62) - 1
VERSION_MASK = 0xF << 76
VERSION_4 = 0x4 << 76
VERSION_7 = 0x7 << 76
FREE_OF_VERSION_4 = (1 << 128) - 1 & ~VERSION_MASK & ~(0b11 << 62)


def _text(number: int) -> str:
    digits = f"{number:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


class SystemIds:
    def __init__(self) -> None:
        self._random = random.SystemRandom()

    def run_id(self, now: int) -> str:
        """See the port. Two IDs of the same quarter of a microsecond sort by chance."""
        milliseconds, rest = divmod(now, NS_PER_MS)
        fraction = (rest << FRACTION_BITS) // NS_PER_MS
        chance = int.from_bytes(os.urandom(8), "big") & BELOW_VARIANT
        return _text(milliseconds << 80 | VERSION_7 | fraction << 64 | VARIANT | chance)

    def unique(self) -> str:
        # Every commit takes one; this is half of what the standard library's `uuid4` and its text cost.
        chance = int.from_bytes(os.urandom(16), "big")
        return _text(chance & FREE_OF_VERSION_4 | VERSION_4 | VARIANT)

    def jitter(self) -> float:
        return self._random.random()
