"""Timestamps in Kubernetes objects."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

RESOLUTION = 6
"""Decimals of virtual seconds: times are kept to the microsecond, so that sums of steps compare equal."""

_LAST = int(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp())
"""The last second that a date can name, of year 9999; virtual time may go on beyond it."""


@lru_cache(maxsize=1024)
def rfc3339(second: int) -> str:
    """Format a second since 1970 as RFC 3339; one after year 9999 as the last one of that year."""
    return datetime.fromtimestamp(min(second, _LAST), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@lru_cache(maxsize=4096)
def microseconds_of(timestamp: str | None) -> int | None:
    """Return the microseconds since 1970 of an RFC 3339 time; ``None`` if absent or invalid."""
    if timestamp is None:
        return None
    try:
        read = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    aware = read if read.tzinfo is not None else read.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1_000_000)


def seconds_of(timestamp: str | None) -> float | None:
    """Return the whole seconds since 1970 of an RFC 3339 time; ``None`` if absent or invalid."""
    exact = microseconds_of(timestamp)
    return None if exact is None else float(exact // 1_000_000)
