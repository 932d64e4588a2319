"""Schedules of CronJobs: five fields, names, steps, and ``@daily`` and its like (robfig/cron)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

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


class Schedule:
    """The times of a schedule, in seconds since 1970; time zones other than UTC are not read."""

    def __init__(self, text: str) -> None:
        """Read a schedule.

        Raises:
            ValueError: It is none.
        """
        fields = _WORDS.get(text, text).split()
        if len(fields) != len(_FIELDS):
            raise ValueError(f"schedule {text!r} must have five fields")
        self._sets = [_read(field, *limits) for field, limits in zip(fields, _FIELDS, strict=True)]
        self._any_day = fields[2] in ("*", "?") or fields[4] in ("*", "?")

    def next(self, after: float) -> int:
        """Return the first time after one; far in the future if there is none."""
        at = datetime.fromtimestamp(int(after) // 60 * 60 + 60, UTC)
        for day in self._days(at):
            for hour in sorted(self._sets[1]):
                for minute in sorted(self._sets[0]):
                    found = day.replace(hour=hour, minute=minute)
                    if found >= at:
                        return int(found.timestamp())
        return int(after) + _MOST_YEARS * 366 * 86_400

    def last(self, after: float, until: float) -> int | None:
        """Return the last time after one and not after another, ``None`` if there is none."""
        found = None
        at = self.next(after)
        while at <= until:
            found = at
            at = self.next(at)
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
        found.update(range(begin, end + 1, int(step or 1)))
    if not found or min(found) < low or max(found) > high:
        raise ValueError(f"{field!r} is not between {low} and {high}")
    return found


def _number(text: str, names: dict[str, int]) -> int:
    return names[text.lower()] if text.lower() in names else int(text)
