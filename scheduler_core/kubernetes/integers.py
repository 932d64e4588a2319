"""Whole numbers written in texts, as Go reads them; :func:`int` alone refuses or accepts other texts."""

from __future__ import annotations

import re

_INTEGER = re.compile(r"([+-]?)0*([0-9]{1,19})", re.ASCII)
_INT64 = 2**63


def parse_int(text: str) -> int | None:
    """Parse a signed decimal integer of 64 bits (strconv.ParseInt); ``None`` for any other text.

    A text of any length is read: leading zeros do not count.
    """
    found = _INTEGER.fullmatch(text)
    if found is None:
        return None
    number = int(found[1] + found[2])
    return number if -_INT64 <= number < _INT64 else None
