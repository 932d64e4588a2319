"""Schedules of CronJobs: five fields, words, ``@daily``, ``@every 90s``, time zones (robfig/cron)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo

_WORDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS = {
    name: place for place, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)
}
_DAYS = {name: place for place, name in enumerate("sun mon tue wed thu fri sat".split())}
_FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, _MONTHS),
    (0, 6, _DAYS),
)
_MOST_YEARS = 5


_EVERY = re.compile(r"@every (?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_ZONE = re.compile(r"(?:CRON_)?TZ=(\S+)\s+(.*)")


class Schedule:
    """The times of a schedule, in seconds since 1970."""

    def __init__(self, text: str, zone: str = "") -> None:
        """Read a schedule, whose times are those of a zone; "" is UTC, or the zone that the text begins with.

        Raises:
            ValueError: It is none, or there is no such zone.
        """
        named = _ZONE.fullmatch(text)
        if named is not None:
            zone, text = zone or named[1], named[2]
        self._zone = time_zone(zone or "UTC")
        self._every = _period(text)
        if self._every:
            return
        fields = _WORDS.get(text, text).split()
        if len(fields) != len(_FIELDS):
            raise ValueError(f"schedule {text!r} must have five fields")
        self._sets = [_read(field, *limits) for field, limits in zip(fields, _FIELDS, strict=True)]
        self._any_day = any(re.match(r"[*?](/1)?(,|$)", field) for field in (fields[2], fields[4]))

    def next(self, after: float) -> int:
        """Return the first time after one; far in the future if there is none."""
        if self._every:
            return int(after) + self._every
        first = int(after) // 60 * 60 + 60
        for day in self._days(datetime.fromtimestamp(first, self._zone)):
            for found in self._times(day):
                if found >= first:
                    return found
        return int(after) + _MOST_YEARS * 366 * 86_400

    def _times(self, day: datetime) -> Iterator[int]:
        """Yield the times of a day; those that the clocks skip are left out."""
        for hour in sorted(self._sets[1]):
            for minute in sorted(self._sets[0]):
                found = int(day.replace(hour=hour, minute=minute).timestamp())
                if datetime.fromtimestamp(found, self._zone).hour == hour:
                    yield found

    def last(self, after: float, until: float) -> int | None:
        """Return the last time after one and not after another, ``None`` if there is none.

        As in ``mostRecentScheduleTime``, many times are skipped by the distance of the first two.
        """
        first = self.next(after)
        if until < first:
            return None
        second = self.next(first)
        if until < second:
            return first
        distance = second - first
        found, at = None, self.next(first + (int(until - first) // distance - 1) * distance)
        while at <= until:
            found, at = at, self.next(at)
        return found

    def _days(self, at: datetime) -> Iterator[datetime]:
        day = at.replace(hour=0, minute=0)
        for _ in range(_MOST_YEARS * 366):
            if day.month in self._sets[3] and self._is_on(day):
                yield day
            day += timedelta(days=1)

    def _is_on(self, day: datetime) -> bool:
        in_month, in_week = day.day in self._sets[2], day.isoweekday() % 7 in self._sets[4]
        return (in_month and in_week) if self._any_day else (in_month or in_week)


def time_zone(name: str) -> tzinfo:
    """Return a time zone. Raises ValueError if there is none of this name."""
    if name == "UTC":
        return UTC  # also where the system has no database of time zones
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError) as error:
        raise ValueError(f"there is no time zone {name!r}") from error


def _period(text: str) -> int:
    """Return the seconds of ``@every``, 0 of another schedule."""
    found = _EVERY.fullmatch(text)
    if found is None:
        return 0
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return max(1, hours * 3600 + minutes * 60 + seconds)


def _read(field: str, low: int, high: int, names: dict[str, int]) -> set[int]:
    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        if span in ("*", "?"):
            begin, end = low, high
        else:
            begin = _number(first, names)
            end = _number(last, names) if last else high if step else begin
        if not low <= begin <= end <= high:
            raise ValueError(f"{field[:40]!r} is not between {low} and {high}")
        found.update(range(begin, end + 1, int(step or 1)))
    return found


def _number(text: str, names: dict[str, int]) -> int:
    return names[text.lower()] if text.lower() in names else int(text)
