"""Identifiers from the machine's randomness.

Run IDs are UUIDs of version 7 (RFC 9562): milliseconds first, so that they sort by time, then the fraction of the
millisecond in 12 bits, then 62 random bits.
"""

import os
import random
import uuid

NS_PER_MS = 1_000_000
FRACTION_BITS = 12
RANDOM_MASK = (1 << 62) - 1
VERSION_7 = 0x7 << 76
VARIANT = 0b10 << 62


class SystemIds:
    def __init__(self) -> None:
        self._random = random.SystemRandom()

    def run_id(self, now: int) -> str:
        """See the port. Two IDs of the same quarter of a microsecond sort by chance."""
        milliseconds, rest = divmod(now, NS_PER_MS)
        fraction = (rest << FRACTION_BITS) // NS_PER_MS
        chance = int.from_bytes(os.urandom(8), "big") & RANDOM_MASK
        digits = f"{milliseconds << 80 | VERSION_7 | fraction << 64 | VARIANT | chance:032x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

    def unique(self) -> str:
        return str(uuid.uuid4())

    def jitter(self) -> float:
        return self._random.random()
