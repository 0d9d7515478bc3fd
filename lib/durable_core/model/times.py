"""Time as whole nanoseconds (since the epoch, or of a duration) and its protobuf forms.

Nanoseconds, not floats: a timer must not fire early by a rounding error.
"""

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def timestamp(nanos: int) -> Timestamp:
    """Nanoseconds since the epoch as a protobuf timestamp."""
    return Timestamp(seconds=nanos // SECOND, nanos=nanos % SECOND)


NEVER = timestamp(-62135596800 * SECOND)
"""0001-01-01, as the Temporal server shows a time that is not set."""


def duration(nanos: int) -> Duration:
    """Nanoseconds as a protobuf duration (not negative)."""
    return Duration(seconds=nanos // SECOND, nanos=nanos % SECOND)


def nanos(value: Duration | Timestamp) -> int:
    """A protobuf duration or timestamp in nanoseconds; an unset one is 0."""
    return value.seconds * SECOND + value.nanos
