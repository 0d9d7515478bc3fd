"""Cron schedules: when the next run of a workflow begins.

Understood: the five-field syntax, `@every <duration>`, `@hourly`, `@daily`, `@midnight`, `@weekly`, `@monthly`,
`@yearly`, `@annually`, and a `CRON_TZ=` or `TZ=` prefix. Source of the rules: the Temporal server, whose next time is
counted from the run's start, never from now, and rounded up to whole seconds.
"""

import re
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from croniter import croniter

from durable_core.model.errors import InvalidArgument
from durable_core.model.times import HOUR, MILLISECOND, MINUTE, SECOND

_UNITS = {"h": HOUR, "m": MINUTE, "s": SECOND, "ms": MILLISECOND, "us": 1_000, "µs": 1_000, "ns": 1}
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(h|ms|m|s|us|µs|ns)")
_NICKNAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


def _parse_duration(text: str) -> int:
    """A Go duration such as `1h30m` in ns."""
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise InvalidArgument("invalid CronSchedule.")
    return sum(int(float(number) * _UNITS[unit]) for number, unit in parts)


def _split_zone(schedule: str) -> tuple[tzinfo, str]:
    if schedule.startswith(("CRON_TZ=", "TZ=")):
        prefix, _, rest = schedule.partition(" ")
        try:
            return ZoneInfo(prefix.partition("=")[2]), rest.strip()
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise InvalidArgument("invalid CronSchedule.") from error
    return UTC, schedule.strip()


def validate(schedule: str) -> None:
    """Raise `InvalidArgument` for a schedule that is not understood; the empty one is fine."""
    if not schedule:
        return
    _, spec = _split_zone(schedule)
    if spec.startswith("@every "):
        if _parse_duration(spec.removeprefix("@every ").strip()) < 0:
            raise InvalidArgument("invalid CronSchedule.")
        return
    spec = _NICKNAMES.get(spec, spec)
    if len(spec.split()) != 5 or not croniter.is_valid(spec):
        raise InvalidArgument("invalid CronSchedule.")


def backoff(schedule: str, started_at: int, now: int) -> int:
    """How many ns after `now` the next run is due, for a run that began at `started_at` (both ns since the epoch)."""
    zone, spec = _split_zone(schedule)
    if spec.startswith("@every "):
        every = max(_parse_duration(spec.removeprefix("@every ").strip()) // SECOND, 1) * SECOND
        base = started_at // SECOND * SECOND
        passed = max(now - base, 0)
        return _whole_seconds(base + (passed // every + 1) * every - now)
    start = datetime.fromtimestamp(started_at // SECOND, zone)
    moments = croniter(_NICKNAMES.get(spec, spec), start, ret_type=datetime)
    while True:
        due = int(moments.get_next(datetime).timestamp()) * SECOND
        if due > now:
            return _whole_seconds(due - now)


def _whole_seconds(delay: int) -> int:
    return -(-delay // SECOND) * SECOND
