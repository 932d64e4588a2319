"""Quantities and semantic versions (k8s.io/apiserver/pkg/cel/library)."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from scheduler_core.schedulers.v1_37.cel.errors import CelError
from scheduler_core.schedulers.v1_37.cel.functions.table import Library, library, row
from scheduler_core.schedulers.v1_37.cel.values import Quantity, Semver, is_int, is_uint

_SHAPE = re.compile(r"([+-]?[0-9.]++)([eEinumkKMGTP]*[-+]?[0-9]*)", re.ASCII)
_NUMBER = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?", re.ASCII)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_NANO = 10**9
_MOST_DIGITS = 18


@lru_cache(maxsize=4096)
def parse_quantity(text: str) -> Quantity:
    """Parse a quantity as resource.ParseQuantity does, exact to the billionth, rounded away from zero.

    Raises CelError with its message.
    """
    shape = _SHAPE.fullmatch(text) if len(text) <= 512 else None
    number = _NUMBER.fullmatch(shape[1]) if shape else None
    if shape is None or number is None or not (number[2] or number[3]):
        shown = r"^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"
        raise CelError(f"quantities must match the regular expression '{shown}'")
    sign = -1 if number[1] == "-" else 1
    whole, places = (number[2] or "").lstrip("0") or "0", number[3] or ""
    scale = _scale(shape[2])
    scaled = Fraction(f"{whole}.{places or 0}") * scale * _NANO
    amount = Fraction(-(-scaled.numerator // scaled.denominator), _NANO)
    if shape[2] in _BINARY:
        amount = min(amount, Fraction(2**63 - 1))
    return Quantity(sign * amount, _held(sign, whole, places, shape[2]))


def _scale(suffix: str) -> Fraction:
    if suffix in _BINARY:
        return Fraction(2 ** _BINARY[suffix])
    return Fraction(10) ** _exponent(suffix)


def _exponent(suffix: str) -> int:
    """Return the power of ten of a suffix, or of an exponent that is far beyond all others."""
    if suffix in _DECIMAL:
        return _DECIMAL[suffix]
    if not re.fullmatch(r"[eE][+-]?\d{1,9}", suffix, re.ASCII):
        raise CelError("unable to parse quantity's suffix")
    return max(min(int(suffix[1:]), 600), -600)


def _held(sign: int, whole: str, places: str, suffix: str) -> tuple[int, int] | None:
    """Return how a quantity is held, if its digits surely fit in 64 bits (the fast path of ParseQuantity)."""
    value = sign * int(whole + places)
    if suffix in _BINARY:
        digits = 15 - len(whole) - _BINARY[suffix] * 3 // 10 - 1
        return (value << _BINARY[suffix], 0) if digits >= 0 and not places else None
    scale = _exponent(suffix) - len(places)
    fits = len(whole) + len(places) <= _MOST_DIGITS and scale >= -9
    return (value, scale) if fits else None


def _integer(quantity: Quantity) -> int:
    """Return a quantity as an int, which only those are that are held in whole units (AsInt64)."""
    value, scale = quantity.scaled or (0, -1)
    if scale < 0 or scale > 18 or not is_int(value * 10**scale):
        raise CelError("cannot convert value to integer")
    return int(value * 10**scale)


def _is(parse: Callable[..., Any]) -> Callable[..., bool]:
    def run(*arguments: Any) -> bool:
        try:
            parse(*arguments)
        except CelError:
            return False
        return True

    return run


def _sum(sign: int) -> Callable[[Quantity, Any], Quantity]:
    def run(one: Quantity, other: Any) -> Quantity:
        more = other if isinstance(other, Quantity) else Quantity(Fraction(other), (other, 0))
        held = _added(one.scaled, more.scaled, sign)
        return Quantity(one.amount + sign * more.amount, held, computed=True)

    return run


def _added(one: tuple[int, int] | None, other: tuple[int, int] | None, sign: int) -> tuple[int, int] | None:
    """Return how a sum is held (int64Amount.Add)."""
    if one is None or other is None:
        return None
    value, scale = sign * other[0], other[1]
    if not value:
        return one
    if not one[0]:
        return value, scale
    least = min(one[1], scale)
    if max(one[1], scale) - least > _MOST_DIGITS:
        return None
    total = one[0] * 10 ** (one[1] - least) + value * 10 ** (scale - least)
    return (total, least) if is_int(total) else None


def _sign(number: Any) -> int:
    return int(number > 0) - int(number < 0)


def _compared(one: Quantity, other: Quantity) -> int:
    return _sign(one.amount - other.amount)


@lru_cache(maxsize=4096)
def parse_semver(text: str, normalize: bool = False) -> Semver:
    """Parse a version as blang/semver does; to normalize, it may be short or have a v. Raises CelError."""
    text = _normalized(text) if normalize else text
    if not text:
        raise CelError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise CelError("No Major.Minor.Patch elements found")
    major, minor = _number(parts[0], "Major"), _number(parts[1], "Minor")
    patch, plus, build = parts[2].partition("+")
    patch, dash, pre = patch.partition("-")
    number = _number(patch, "Patch")
    found = tuple(map(_prerelease, pre.split("."))) if dash else ()
    for one in build.split(".") if plus else ():
        _checked(one, "Build meta data is empty", "build meta data")
    return Semver((major, minor, number), found)


def _normalized(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            stripped = part.lstrip("0")
            parts[index] = stripped if stripped[:1].isdigit() and stripped[0].isascii() else f"0{stripped}"
    if len(parts) < 3 and re.search(r"[+-]", parts[-1]):
        raise CelError("short version cannot contain PreRelease/Build meta data")
    return ".".join([*parts, "0", "0"][: max(3, len(parts))])


def _number(text: str, name: str) -> int:
    if not re.fullmatch(r"\d*", text, re.ASCII):
        raise CelError(f"Invalid character(s) found in {name.lower()} number {_quoted(text)}")
    if len(text) > 1 and text.startswith("0"):
        raise CelError(f"{name} number must not contain leading zeroes {_quoted(text)}")
    return _parsed(text)


def _parsed(text: str) -> int:
    if not text or len(text) > 20 or not is_uint(int(text)):
        problem = "value out of range" if text else "invalid syntax"
        raise CelError(f"strconv.ParseUint: parsing {_quoted(text)}: {problem}")
    return int(text)


def _prerelease(text: str) -> int | str:
    _checked(text, "Prerelease is empty", "prerelease")
    if not text.isdigit():
        return text
    if len(text) > 1 and text.startswith("0"):
        raise CelError(f"Numeric PreRelease version must not contain leading zeroes {_quoted(text)}")
    return _parsed(text)


def _checked(text: str, if_empty: str, name: str) -> None:
    if not text:
        raise CelError(if_empty)
    if not re.fullmatch(r"[0-9A-Za-z-]+", text):
        raise CelError(f"Invalid character(s) found in {name} {_quoted(text)}")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _semver_order(one: Semver, other: Semver) -> int:
    left, right = one.rank(), other.rank()
    return int(left > right) - int(left < right)


_QUANTITY_ROWS: list[tuple[str, str, Callable[..., Any]]] = [
    ("string_to_quantity", "quantity(string) -> quantity", parse_quantity),
    ("is_quantity_string", "isQuantity(string) -> bool", _is(parse_quantity)),
    ("quantity_sign", "sign(quantity) -> int", lambda one: _sign(one.amount)),
    (
        "quantity_is_greater_than",
        "quantity.isGreaterThan(quantity) -> bool",
        lambda a, b: _compared(a, b) > 0,
    ),
    ("quantity_is_less_than", "quantity.isLessThan(quantity) -> bool", lambda a, b: _compared(a, b) < 0),
    ("quantity_compare_to", "quantity.compareTo(quantity) -> int", _compared),
    ("quantity_get_float", "quantity.asApproximateFloat() -> double", lambda one: float(one.amount)),
    ("quantity_get_int", "quantity.asInteger() -> int", _integer),
    ("quantity_is_integer", "quantity.isInteger() -> bool", _is(_integer)),
    ("quantity_add", "quantity.add(quantity) -> quantity", _sum(1)),
    ("quantity_add_int", "quantity.add(int) -> quantity", _sum(1)),
    ("quantity_sub", "quantity.sub(quantity) -> quantity", _sum(-1)),
    ("quantity_sub_int", "quantity.sub(int) -> quantity", _sum(-1)),
]
_SEMVER_ROWS: list[tuple[str, str, Callable[..., Any]]] = [
    ("string_to_semver", "semver(string) -> semver", parse_semver),
    ("string_bool_to_semver", "semver(string, bool) -> semver", parse_semver),
    ("is_semver_string", "isSemver(string) -> bool", _is(parse_semver)),
    ("is_semver_string_bool", "isSemver(string, bool) -> bool", _is(parse_semver)),
    ("semver_is_greater_than", "semver.isGreaterThan(semver) -> bool", lambda a, b: _semver_order(a, b) > 0),
    ("semver_is_less_than", "semver.isLessThan(semver) -> bool", lambda a, b: _semver_order(a, b) < 0),
    ("semver_compare_to", "semver.compareTo(semver) -> int", _semver_order),
    ("semver_major", "semver.major() -> int", lambda version: version.numbers[0]),
    ("semver_minor", "semver.minor() -> int", lambda version: version.numbers[1]),
    ("semver_patch", "semver.patch() -> int", lambda version: version.numbers[2]),
]

LIBRARY: Library = library([row(*one) for one in (*_QUANTITY_ROWS, *_SEMVER_ROWS)])
