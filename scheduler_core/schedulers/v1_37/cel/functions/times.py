"""Timestamps and durations: their texts and their parts (common/stdlib, Go's package time)."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from scheduler_core.schedulers.v1_37.cel.errors import CelError
from scheduler_core.schedulers.v1_37.cel.functions.table import Library, Overload, library, row
from scheduler_core.schedulers.v1_37.cel.values import Duration, Timestamp, is_int

_UNITS = {
    "ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6,
    "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9,
}  # fmt: skip
_PART = re.compile(r"(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d{1,2}):(\d\d):(\d\d)(?:[.,](\d{1,30}))?(Z|([+-])(\d\d):(\d\d))", re.ASCII
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_duration(text: str) -> Duration | None:
    """Parse a duration as Go writes it (``1h30m``, ``-1.5s``); None if it is not one."""
    sign, body = (-1 if text.startswith("-") else 1), text[1:] if text[:1] in ("+", "-") else text
    if body == "0":
        return Duration(0)
    total = place = 0
    while place < len(body):
        match = _PART.match(body, place)
        if match is None or len(match[0]) > 64 or not (match[1] or match[2]):
            return None
        unit, fraction = _UNITS[match[3]], match[2] or ""
        total += int(match[1] or 0) * unit + int(fraction or 0) * unit // 10 ** len(fraction)
        place = match.end()
    return Duration(sign * total) if place and is_int(sign * total) else None


def parse_timestamp(text: str) -> Timestamp | None:
    """Parse a time of RFC 3339; None if it is not one."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(match[group]) for group in range(1, 7))
    offset = int(f"{match[9]}1") * (int(match[10]) * 3600 + int(match[11]) * 60) if match[9] else 0
    try:
        seconds = (datetime(year, month, day, hour, minute, second, tzinfo=UTC) - _EPOCH).total_seconds()
    except ValueError:
        return None
    fraction = int((match[7] or "0")[:9].ljust(9, "0"))
    return Timestamp((int(seconds) - offset) * 10**9 + fraction, offset)


def show_timestamp(value: Timestamp) -> str:
    """Return a time as RFC 3339 writes it, with the offset that it was given with."""
    moment = _moment(value, timezone(timedelta(seconds=value.offset)))
    fraction = f".{value.nanoseconds % 10**9:09d}".rstrip("0").rstrip(".")
    zone = moment.strftime("%z")
    return f"{moment.strftime('%Y-%m-%dT%H:%M:%S').zfill(19)}{fraction}{zone[:3]}:{zone[3:]}".replace(
        "+00:00", "Z"
    )


def _moment(value: Timestamp, zone: tzinfo) -> datetime:
    return (_EPOCH + timedelta(seconds=value.nanoseconds // 10**9)).astimezone(zone)


def _zone(name: str) -> tzinfo:
    """Return a time zone by its name or offset. Raises CelError."""
    if ":" not in name:
        try:
            return UTC if name in ("", "UTC") else ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise CelError(f"unknown time zone {name}") from None
    hours, _, minutes = name.partition(":")
    for part in (hours, minutes):
        if not re.fullmatch(r"[+-]?\d{1,9}", part, re.ASCII):
            raise CelError(f'strconv.Atoi: parsing "{part}": invalid syntax')
    offset = int(hours) * 60 + (-int(minutes) if name.startswith("-") else int(minutes))
    if abs(offset) >= 24 * 60:
        raise CelError(f"the time zone {name} is not supported: it is a day or more away")
    return timezone(timedelta(minutes=offset))


def _part(read: Callable[[datetime, int], int]) -> Callable[..., int]:
    def run(value: Timestamp, zone: str = "UTC") -> int:
        return read(_moment(value, _zone(zone)), value.nanoseconds)

    return run


def _of_duration(unit: int) -> Callable[[Any], int]:
    def run(value: Duration) -> int:
        whole = abs(value.nanoseconds) // unit
        return whole if value.nanoseconds >= 0 else -whole

    return run


_PARTS: dict[str, tuple[str, Callable[[datetime, int], int]]] = {
    "getFullYear": ("year", lambda moment, _: moment.year),
    "getMonth": ("month", lambda moment, _: moment.month - 1),
    "getDayOfYear": ("day_of_year", lambda moment, _: moment.timetuple().tm_yday - 1),
    "getDayOfMonth": ("day_of_month", lambda moment, _: moment.day - 1),
    "getDate": ("day_of_month_1_based", lambda moment, _: moment.day),
    "getDayOfWeek": ("day_of_week", lambda moment, _: moment.isoweekday() % 7),
    "getHours": ("hours", lambda moment, _: moment.hour),
    "getMinutes": ("minutes", lambda moment, _: moment.minute),
    "getSeconds": ("seconds", lambda moment, _: moment.second),
    "getMilliseconds": ("milliseconds", lambda _, nanoseconds: nanoseconds % 10**9 // 10**6),
}
_DURATIONS = {
    "getHours": 3600 * 10**9,
    "getMinutes": 60 * 10**9,
    "getSeconds": 10**9,
    "getMilliseconds": 10**6,
}


def _rows() -> list[Overload]:
    out = []
    for function, (name, read) in _PARTS.items():
        tz = "tz" if name == "seconds" else "with_tz"
        out.append(row(f"timestamp_to_{name}", f"timestamp.{function}() -> int", _part(read)))
        out.append(row(f"timestamp_to_{name}_{tz}", f"timestamp.{function}(string) -> int", _part(read)))
        if function in _DURATIONS:
            run = _of_duration(_DURATIONS[function])
            out.append(row(f"duration_to_{name}", f"duration.{function}() -> int", run))
    return out


LIBRARY: Library = library(_rows())
