"""Plain YAML scalars, as Kubernetes parses them.

Kubernetes parses YAML 1.1 with go-yaml v2, which differs from PyYAML: times stay
strings, ``12:30`` is not a base-60 number, ``1e3`` is a number, ``y`` and ``n`` are booleans.
"""

from __future__ import annotations

import re

from scheduler_core.formats.limits import FormatError

_TRUE = frozenset("y Y yes Yes YES true True TRUE on On ON".split())
_FALSE = frozenset("n N no No NO false False FALSE off Off OFF".split())
_NULL = frozenset(["", "~", "null", "Null", "NULL"])
WORDS: dict[str, bool | None] = {
    **dict.fromkeys(_TRUE, True),
    **dict.fromkeys(_FALSE, False),
    **dict.fromkeys(_NULL),
}
_INT = re.compile(r"[-+]?(0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO]?[0-7_]*|[1-9][0-9_]*)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_SPECIAL = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", re.ASCII)
# Every text that is not a string begins with one of these; any other needs no further check.
_FIRST = frozenset("0123456789+-.~yYnNtTfFoO")
_MAX_DIGITS = 40

Scalar = str | int | float | bool | None


def resolve(text: str) -> Scalar:
    """Return the value of a plain scalar. Raises FormatError for numbers that JSON cannot hold."""
    if text and text[0] not in _FIRST:
        return text
    if text in WORDS:
        return WORDS[text]
    if _INT.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text):
        return number(text.replace("_", ""))
    if _SPECIAL.fullmatch(text):
        raise FormatError(f"{text} is not a number that a manifest can hold")
    return text


def _integer(text: str) -> int | float | str:
    if len(text) > _MAX_DIGITS:
        raise FormatError(f"a number of {len(text)} digits is too long: at most {_MAX_DIGITS} are read")
    digits = text.replace("_", "").lstrip("+-").lower()
    base = 10
    if digits.startswith("0") and len(digits) > 1:
        base = {"x": 16, "b": 2}.get(digits[1], 8)
        digits = digits.lstrip("0").lstrip("xob")
    try:
        value = int(digits or "0", base)
    except ValueError:
        return text
    return -value if text.startswith("-") else value


def number(text: str) -> float:
    """Parse a decimal number. Raises FormatError if it exceeds the range of a double."""
    if len(text) > 400:
        raise FormatError("a number of more than 400 characters is too long")
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise FormatError(f"{text[:40]} is larger than any number that a manifest can hold")
    return value


def needs_quotes(text: str) -> bool:
    """Return whether a string, written as a plain scalar, would not be parsed as a string."""
    if text and text[0] not in _FIRST:
        return False
    return text in WORDS or bool(_INT.fullmatch(text) or _FLOAT.fullmatch(text) or _SPECIAL.fullmatch(text))
