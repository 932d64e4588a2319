from __future__ import annotations

import pytest

from scheduler_core.v1_37.backoff import backoff_duration, expiry, is_backing_off


@pytest.mark.parametrize(
    ("failures", "seconds"), [(0, 0), (1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (6, 10), (200, 10)]
)
def test_backoff_doubles_up_to_ten_seconds(failures: int, seconds: int) -> None:
    """One second after the first failure, twice as long after each further one."""
    assert backoff_duration(failures) == seconds * 1000


def test_a_larger_maximum_lets_it_double_on() -> None:
    """A group of four backs off up to twenty seconds."""
    assert backoff_duration(5, maximum=20_000) == 16_000
    assert backoff_duration(6, maximum=20_000) == 20_000


def test_the_expiry_is_cut_to_its_second() -> None:
    """Backoffs that expire within a second are ordered by priority, not by time."""
    assert expiry(1_999, 1) == 2_000
    assert expiry(2_000, 1) == 3_000
    assert expiry(5, 0) is None


def test_backoff_holds_in_the_second_of_its_expiry() -> None:
    """Queues are flushed by whole seconds, and equal ones still count."""
    assert is_backing_off(3_000, 3_999)
    assert not is_backing_off(3_000, 4_000)
    assert not is_backing_off(None, 0)
