"""The machine's clock and identifiers."""

import time
import uuid

import pytest

from durable_core.adapters.system import SystemClock, SystemIds

NOW = 1_700_000_000_123_456_789


def test_the_clock_gives_the_machines_time_in_nanoseconds() -> None:
    before = time.time_ns()
    assert before <= SystemClock().now() <= time.time_ns()


def test_the_clock_stands_still_while_the_machines_clock_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([100, 90, 99, 100, 101])
    monkeypatch.setattr(time, "time_ns", lambda: next(readings))
    clock = SystemClock()
    assert [clock.now() for _ in range(5)] == [100, 100, 100, 100, 101]


def test_a_run_id_is_a_uuid_of_version_7_that_tells_its_time() -> None:
    text = SystemIds().run_id(NOW)
    parsed = uuid.UUID(text)
    assert str(parsed) == text
    assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)
    assert parsed.int >> 80 == NOW // 1_000_000


def test_run_ids_sort_by_time_finer_than_a_millisecond() -> None:
    ids = SystemIds()
    made = [ids.run_id(NOW + step * 1_000) for step in range(2_000)]
    assert made == sorted(made)


def test_run_ids_of_the_same_moment_differ() -> None:
    ids = SystemIds()
    assert len({ids.run_id(NOW) for _ in range(1_000)}) == 1_000


def test_unique_ids_are_uuids_and_differ() -> None:
    ids = SystemIds()
    made = {ids.unique() for _ in range(1_000)}
    assert len(made) == 1_000
    parsed = [uuid.UUID(text) for text in made]
    assert {str(one) for one in parsed} == made
    assert {(one.version, one.variant) for one in parsed} == {(4, uuid.RFC_4122)}
    assert all(
        any(one.int >> bit & 1 for one in parsed) for bit in range(128) if bit not in (62, *range(76, 80))
    )


def test_jitter_lies_between_0_and_1() -> None:
    ids = SystemIds()
    made = [ids.jitter() for _ in range(1_000)]
    assert all(0 <= number < 1 for number in made)
    assert max(made) - min(made) > 0.5
