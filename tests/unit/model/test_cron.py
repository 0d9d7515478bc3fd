"""When a cron's next run is due, and which schedules there are; both as observed on the Temporal server 1.32."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from durable_core.model import cron
from durable_core.model.errors import InvalidArgument
from durable_core.model.times import DAY, HOUR, MILLISECOND, MINUTE, SECOND


def at(text, zone=UTC):
    return int(datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()) * SECOND


@pytest.mark.parametrize(
    "schedule, started, now, due",
    [
        ("* * * * *", "2024-05-01T10:00:00", "2024-05-01T10:00:00", "2024-05-01T10:01:00"),
        ("* * * * *", "2024-05-01T10:00:00", "2024-05-01T10:05:30", "2024-05-01T10:06:00"),
        ("*/15 * * * *", "2024-05-01T10:01:00", "2024-05-01T10:01:00", "2024-05-01T10:15:00"),
        ("5/15 * * * *", "2024-05-01T10:06:00", "2024-05-01T10:06:00", "2024-05-01T10:20:00"),
        ("0 0 ? * *", "2024-05-01T10:01:00", "2024-05-01T10:01:00", "2024-05-02T00:00:00"),
        ("0 9 * * MON-fri", "2024-05-03T10:00:00", "2024-05-03T10:00:00", "2024-05-06T09:00:00"),
        ("0 0 29 2 *", "2024-03-01T00:00:00", "2024-03-01T00:00:00", "2028-02-29T00:00:00"),
        ("@hourly", "2024-05-01T10:01:00", "2024-05-01T10:01:00", "2024-05-01T11:00:00"),
        ("@daily", "2024-05-01T10:01:00", "2024-05-01T10:01:00", "2024-05-02T00:00:00"),
        ("@midnight", "2024-05-01T10:01:00", "2024-05-01T10:01:00", "2024-05-02T00:00:00"),
        ("@weekly", "2024-05-01T10:01:00", "2024-05-01T10:01:00", "2024-05-05T00:00:00"),
        ("@monthly", "2024-05-02T10:01:00", "2024-05-02T10:01:00", "2024-06-01T00:00:00"),
        ("@yearly", "2024-05-02T10:01:00", "2024-05-02T10:01:00", "2025-01-01T00:00:00"),
        ("@annually", "2024-05-02T10:01:00", "2024-05-02T10:01:00", "2025-01-01T00:00:00"),
        ("TZ= 0 12 * * *", "2024-05-01T10:00:00", "2024-05-01T10:00:00", "2024-05-01T12:00:00"),
        ("CRON_TZ=UTC @daily", "2024-05-01T10:00:00", "2024-05-01T10:00:00", "2024-05-02T00:00:00"),
    ],
)
def test_the_next_run_is_due_at_the_next_time_of_the_calendar(schedule, started, now, due):
    assert cron.backoff(schedule, at(started), at(now)) == at(due) - at(now)


@pytest.mark.parametrize("prefix", ["CRON_TZ=", "TZ="])
@pytest.mark.parametrize("day, hours", [("2024-03-30", 23), ("2024-10-26", 25), ("2024-06-01", 24)])
def test_a_zone_keeps_its_hour_over_the_change_of_clocks(prefix, day, hours):
    noon = at(f"{day}T12:00:00", ZoneInfo("Europe/Berlin"))
    assert cron.backoff(f"{prefix}Europe/Berlin 0 12 * * *", noon, noon) == hours * HOUR


@pytest.mark.parametrize(
    "schedule, since_start, delay",
    [
        ("@every 10s", 0, 10 * SECOND),
        ("@every 10s", 3 * SECOND, 7 * SECOND),
        ("@every 10s", 10 * SECOND, 10 * SECOND),
        ("@every 10s", 25 * SECOND, 5 * SECOND),
        ("@every 1h30m", 0, 90 * MINUTE),
        ("@every 1.5h", 0, 90 * MINUTE),
        ("@every 1s900ms", 0, SECOND),
        ("@every 10ms", 0, SECOND),
        ("@every 0s", 0, SECOND),
        ("@every -5s", 0, SECOND),
        ("CRON_TZ=UTC @every 5s", 0, 5 * SECOND),
    ],
)
def test_every_counts_from_the_start_of_the_run(schedule, since_start, delay):
    start = at("2024-05-01T10:00:00")
    assert cron.backoff(schedule, start, start + since_start) == delay


@pytest.mark.parametrize("schedule", ["* * * * *", "@every 7s"])
@pytest.mark.parametrize("late", [1, 999 * MILLISECOND, 3 * SECOND + 1, DAY + 1])
def test_the_delay_is_rounded_up_to_whole_seconds(schedule, late):
    start = at("2024-05-01T10:00:00")
    delay = cron.backoff(schedule, start, start + late)
    assert delay > 0
    assert delay % SECOND == 0


def test_a_run_of_years_finds_its_next_time_at_once():
    start = at("1994-05-01T10:00:00")
    assert cron.backoff("* * * * *", start, at("2024-05-01T10:00:30")) == 30 * SECOND


@pytest.mark.parametrize(
    "schedule",
    [
        "nonsense",
        "@every",
        "@every 5",
        "@every 9999999999999999h",
        "@Daily",
        "@reboot",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "0 24 * * *",
        "0 0 0 * *",
        "0 0 32 * *",
        "0 0 * 13 *",
        "0 0 * * 7",
        "*/0 * * * *",
        "5-1 * * * *",
        "1-3-5 * * * *",
        "* * * * sunday",
        "* * * * L",
        "* * L * *",
        "R * * * *",
        "H * * * *",
        "0 0 * * fri#2",
        "1,,2 * * * *",
        "² * * * *",
        "CRON_TZ=Nowhere/Else * * * * *",
        "TZ=../../etc/passwd * * * * *",
        "CRON_TZ=Europe/Berlin",
    ],
)
def test_a_schedule_that_is_not_understood_is_refused(schedule):
    with pytest.raises(InvalidArgument) as raised:
        cron.validate(schedule)
    assert raised.value.message == "invalid CronSchedule."
    with pytest.raises(InvalidArgument):
        cron.backoff(schedule, 0, 0)


@pytest.mark.parametrize("schedule", ["0 0 30 2 *", "0 0 31 4,6,9,11 *"])
def test_a_schedule_that_never_comes_is_refused(schedule):
    with pytest.raises(InvalidArgument) as raised:
        cron.validate(schedule)
    assert raised.value.message == "invalid CronSchedule, no time can be found to satisfy the schedule"


def test_no_schedule_is_fine():
    cron.validate("")
