"""Delays grow, stay below their ceiling, and differ."""

from perdure.bridge.backoff import delay_seconds


def test_a_delay_stays_below_a_ceiling_that_doubles():
    for failures, ceiling in [(1, 0.1), (2, 0.2), (4, 0.8), (8, 10.0), (1_000_000, 10.0)]:
        delays = [delay_seconds(failures) for _ in range(200)]
        assert min(delays) >= 0.0
        assert ceiling / 2 < max(delays) <= ceiling


def test_two_that_failed_together_do_not_come_back_together():
    assert len({delay_seconds(5) for _ in range(100)}) == 100
