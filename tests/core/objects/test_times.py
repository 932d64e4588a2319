"""Times are written as RFC 3339, however far virtual time goes."""

from __future__ import annotations

import pytest

from scheduler_core.kubernetes.times import rfc3339


@pytest.mark.parametrize(
    ("second", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
        (253_402_300_800, "9999-12-31T23:59:59Z"),
        (10**13, "9999-12-31T23:59:59Z"),
    ],
)
def test_a_second_after_the_year_9999_is_its_last_one(second: int, text: str) -> None:
    """Dates of RFC 3339 have four digits for the year."""
    assert rfc3339(second) == text
