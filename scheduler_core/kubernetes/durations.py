"""Durations in Go's notation, such as ``1h30m`` (time.ParseDuration)."""

from __future__ import annotations

import re
from typing import Any

from scheduler_core.kubernetes.readers import At, Outline, outlined, show

_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(ms|us|µs|ns|h|m|s)", re.ASCII)
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def parse_duration(text: str) -> float | None:
    """Return a duration in seconds, ``None`` if the text is none or it is negative."""
    if text == "0":
        return 0.0
    parts = list(_PART.finditer(text))
    if not parts or "".join(part[0] for part in parts) != text:
        return None
    return sum(float(part[1]) * _UNITS[part[2]] for part in parts)


def duration(value: Any, at: At) -> float | None:
    """Read a duration as seconds."""
    seconds = parse_duration(value) if isinstance(value, str) else None
    if seconds is None:
        at.error(f"must be a duration such as 30s or 1h30m, not {show(value)}")
    return seconds


outlined(duration, Outline("string"))
