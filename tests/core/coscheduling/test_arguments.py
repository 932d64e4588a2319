from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.schedulers.coscheduling import (
    CLASSIC,
    CURRENT,
    Arguments,
    ArgumentsError,
    read_arguments,
)
from scheduler_core.schedulers.coscheduling.state import Expiring


def test_defaults_of_both_editions() -> None:
    """Without arguments classic denies for 20 s, current neither denies nor backs off."""
    assert read_arguments(CLASSIC, {}) == Arguments(60, 20, 0, 10)
    assert read_arguments(CURRENT, {"podGroupRejectPercentage": None}) == Arguments(60, 20, 0, 10)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            {"permitWaitingTimeSeconds": -10},
            "permitWaitingTimeSeconds: Invalid value: -10: must be greater than 0",
        ),
        ({"podGroupBackoffSeconds": -1}, "podGroupBackoffSeconds: Invalid value: -1: must be greater than 0"),
        (
            {"podGroupRejectPercentage": 101},
            "podGroupRejectPercentage: Invalid value: 101: must be between 0 and 100",
        ),
        ({"deniedPGExpirationTimeSeconds": 3}, 'unknown field "deniedPGExpirationTimeSeconds"'),
        (
            {"permitWaitingTimeSeconds": "x"},
            "permitWaitingTimeSeconds: Invalid value: 'x': must be an integer",
        ),
        (
            {"permitWaitingTimeSeconds": True},
            "permitWaitingTimeSeconds: Invalid value: True: must be an integer",
        ),
    ],
)
def test_what_current_refuses(written: dict[str, Any], message: str) -> None:
    """Every refused argument is reported in the words of Kubernetes' field errors."""
    with pytest.raises(ArgumentsError) as caught:
        read_arguments(CURRENT, written)
    assert str(caught.value) == message


def test_several_errors_are_reported_at_once() -> None:
    """Two bad arguments make one error that lists both."""
    with pytest.raises(ArgumentsError) as caught:
        read_arguments(CURRENT, {"permitWaitingTimeSeconds": -1, "podGroupRejectPercentage": -1})
    assert str(caught.value).startswith("[permitWaitingTimeSeconds: Invalid value: -1")
    assert len(caught.value.problems) == 2


def test_zero_passes_though_the_text_says_greater_than_0() -> None:
    """Only negative values fail; classic takes even these."""
    assert read_arguments(CURRENT, {"permitWaitingTimeSeconds": 0}).permit_waiting_seconds == 0
    assert read_arguments(CLASSIC, {"deniedPGExpirationTimeSeconds": -1}).denied_seconds == -1


@pytest.mark.parametrize(("seconds", "until"), [(5, 15.0), (0, 13.0), (-1, float("inf"))])
def test_how_long_an_entry_of_a_cache_lives(seconds: int, until: float) -> None:
    """0 means the cache's default of 3 s, a negative time for ever."""
    cache = Expiring()
    assert cache.add("g", seconds, 10)
    assert cache.until("g", 10) == until
    assert list(cache.alive(10)) == [("g", until - 10)]
