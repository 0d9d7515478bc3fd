"""Cron schedules: when the next run of a workflow begins.

Understood: the five-field syntax, `@every <duration>`, `@hourly`, `@daily`, `@midnight`, `@weekly`, `@monthly`,
`@yearly`, `@annually`, and a `CRON_TZ=` or `TZ=` prefix. Source of the rules: the Temporal server, whose next time is
counted from the run's start, never from now, and rounded up to whole seconds.
A newcomer's trap: the library that finds the next time understands more than the server does (`L`, `R`, a seventh day),
so the syntax is checked here.
"""

import re
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from croniter import CroniterBadDateError, croniter

from durable_core.model import limits
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
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
# Lowest and highest value of each field, and the names that stand for values.
_FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    (0, 6, {name: number for number, name in enumerate(_DAYS)}),
)
_PART = re.compile(r"(?:[*?]|(\w+)(?:-(\w+))?)(?:/(\d+))?")


def _invalid(detail: str = ".") -> InvalidArgument:
    return InvalidArgument(f"invalid CronSchedule{detail}")


def _parse_every(text: str) -> int:
    """The period of `@every` in ns, given as a Go duration such as `1h30m`; at least a second."""
    parts = _DURATION.findall(text.removeprefix("-"))
    if not parts or "".join(number + unit for number, unit in parts) != text.removeprefix("-"):
        raise _invalid()
    every = sum(int(float(number) * _UNITS[unit]) for number, unit in parts)
    if every > limits.duration_max:
        raise _invalid()
    return max(0 if text.startswith("-") else every // SECOND, 1) * SECOND


def _split_zone(schedule: str) -> tuple[tzinfo, str]:
    if schedule.startswith(("CRON_TZ=", "TZ=")):
        prefix, _, rest = schedule.partition(" ")
        name = prefix.partition("=")[2]
        try:
            return ZoneInfo(name) if name else UTC, rest.strip()
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise _invalid() from error
    return UTC, schedule.strip()


def _fields(spec: str) -> str:
    """The five fields of a schedule; raises `InvalidArgument` for anything else."""
    spec = _NICKNAMES.get(spec, spec)
    fields = spec.split()
    if len(fields) != len(_FIELDS):
        raise _invalid()
    for field, (lowest, highest, names) in zip(fields, _FIELDS, strict=True):
        for part in field.split(","):
            _check_part(part, lowest, highest, names)
    return spec


def _check_part(part: str, lowest: int, highest: int, names: dict[str, int]) -> None:
    found = _PART.fullmatch(part)
    if found is None:
        raise _invalid()
    first, last, step = found.groups()
    if step is not None and not int(step):
        raise _invalid()
    if first is None:
        return
    low = _value(first, names)
    high = low if last is None else _value(last, names)
    if not lowest <= low <= high <= highest:
        raise _invalid()


def _value(text: str, names: dict[str, int]) -> int:
    value = int(text) if text.isascii() and text.isdigit() else names.get(text.lower())
    if value is None:
        raise _invalid()
    return value


def validate(schedule: str) -> None:
    """Raise `InvalidArgument` for a schedule that is not understood or never comes; the empty one is fine."""
    if schedule:
        backoff(schedule, 0, 0)


def backoff(schedule: str, started_at: int, now: int) -> int:
    """How many ns after `now` the next run is due, for a run that began at `started_at` (both ns since the epoch).

    Raises `InvalidArgument` for a schedule that is not understood or never comes.
    """
    zone, spec = _split_zone(schedule)
    if spec.startswith("@every "):
        every = _parse_every(spec.removeprefix("@every "))
        base = started_at // SECOND * SECOND
        passed = max(now - base, 0)
        return _whole_seconds(base + (passed // every + 1) * every - now)
    # The times of a calendar do not depend on where one begins to look, so nothing between start and now is visited.
    begin = datetime.fromtimestamp(max(started_at, now) // SECOND, zone)
    moments = croniter(_fields(spec), begin, ret_type=datetime)
    try:
        due = int(moments.get_next(datetime).timestamp()) * SECOND
    except CroniterBadDateError as error:
        raise _invalid(", no time can be found to satisfy the schedule") from error
    return _whole_seconds(due - now)


def _whole_seconds(delay: int) -> int:
    return -(-delay // SECOND) * SECOND
