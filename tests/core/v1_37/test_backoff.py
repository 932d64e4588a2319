from __future__ import annotations

import pytest

from scheduler_core.schedulers.v1_37.backoff import DEFAULT, is_backing_off
from scheduler_core.schedulers.v1_37.config import read_configuration


@pytest.mark.parametrize(
    ("failures", "seconds"), [(0, 0), (1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (6, 10), (200, 10)]
)
def test_backoff_doubles_up_to_ten_seconds(failures: int, seconds: int) -> None:
    """One second after the first failure, twice as long after each further one."""
    assert DEFAULT.duration(failures) == seconds * 1000


def test_a_larger_group_lets_it_double_on() -> None:
    """A group of four backs off up to twenty seconds."""
    assert DEFAULT.duration(5, size=4) == 16_000
    assert DEFAULT.duration(6, size=4) == 20_000


def test_the_expiry_is_cut_to_its_second() -> None:
    """Backoffs that expire within a second are ordered by priority, not by time."""
    assert DEFAULT.expiry(1_999, 1) == 2_000
    assert DEFAULT.expiry(2_000, 1) == 3_000
    assert DEFAULT.expiry(5, 0) is None


def test_backoff_holds_in_the_second_of_its_expiry() -> None:
    """Queues are flushed by whole seconds, and equal ones still count."""
    assert is_backing_off(3_000, 3_999)
    assert not is_backing_off(3_000, 4_000)
    assert not is_backing_off(None, 0)


@pytest.mark.parametrize(
    ("given", "durations"),
    [
        ({"podInitialBackoffSeconds": 3}, [3, 6, 10]),
        ({"podMaxBackoffSeconds": 1}, [1, 1, 1]),
        ({"podInitialBackoffSeconds": 5, "podMaxBackoffSeconds": 60}, [5, 10, 20]),
    ],
)
def test_the_configuration_says_how_long(given: dict[str, int], durations: list[int]) -> None:
    """Both are optional."""
    backoff = read_configuration(given).backoff
    assert [backoff.duration(failures) for failures in (1, 2, 3)] == [1000 * each for each in durations]


@pytest.mark.parametrize(
    "given",
    [
        {"podInitialBackoffSeconds": 0},
        {"podInitialBackoffSeconds": 11},
        {"podInitialBackoffSeconds": 3, "podMaxBackoffSeconds": 2},
    ],
)
def test_the_maximum_is_at_least_the_first_backoff(given: dict[str, int]) -> None:
    """As the scheduler itself demands at its start."""
    with pytest.raises(ValueError, match="podInitialBackoffSeconds must be positive"):
        read_configuration(given)
