"""Kubernetes quantities (``250m``, ``1.5Gi``, ``1e3``): parse exactly, round up, format.

The grammar is that of apimachinery's ``resource.Quantity``; the units are those of the
scheduler: cpu in millicores, everything else in base units, both rounded up.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

MAX_AMOUNT = 2**63 - 1
_MAX_LENGTH = 64
_MAX_EXPONENT = 40

_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_QUANTITY = re.compile(r"([+-]?)(\d++\.?+\d*+|\.\d++)(?:([eE][+-]?\d+)|([KMGTPE]i|[numkMGTPE])?)", re.ASCII)

# Common misspellings of suffixes, and the intended ones. Looked up in lower case, without spaces.
_CORRECTED_UNITS = {
    "b": "", "byte": "", "bytes": "", "core": "", "cores": "", "cpu": "", "cpus": "",
    "kb": "k", "mb": "M", "gb": "G", "tb": "T", "k": "k", "g": "G", "t": "T", "p": "P", "e": "E",
    "ki": "Ki", "mi": "Mi", "gi": "Gi", "ti": "Ti", "pi": "Pi", "ei": "Ei",
    "kib": "Ki", "mib": "Mi", "gib": "Gi", "tib": "Ti", "millicores": "m", "millicpu": "m",
}  # fmt: skip
_WRITTEN = re.compile(r"\s*([+-]?[\d.,_]+)\s*([A-Za-z]*)\s*", re.ASCII)


class QuantityError(ValueError):
    """The text is not a quantity, or its amount does not fit in a signed 64-bit integer."""


@lru_cache(maxsize=8192)
def parse_quantity(text: str, scale: int = 1) -> int:
    """Return the amount times ``scale``, rounded away from zero to an integer.

    ``scale`` is 1000 for cpu in millicores. Raises QuantityError, whose message suggests a correction.
    """
    amount = exact_quantity(text, scale)
    return rounded(amount) if amount >= 0 else -rounded(-amount)


def rounded(amount: Fraction | int) -> int:
    """Return an amount rounded up to an integer."""
    return -(-amount.numerator // amount.denominator)


@lru_cache(maxsize=8192)
def exact_quantity(text: str, scale: int = 1) -> Fraction | int:
    """Return the amount times ``scale``, an int if it is whole. Raises as :func:`parse_quantity` does."""
    match = _QUANTITY.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    if match is None:
        raise QuantityError(_explain(text))
    sign, number, exponent, suffix = match.groups()
    power = int(exponent[1:]) if exponent else 0
    if abs(power) > _MAX_EXPONENT:
        raise QuantityError(f"{text!r} has an exponent outside -{_MAX_EXPONENT}…{_MAX_EXPONENT}")
    amount = Fraction(number) * scale
    if suffix in _BINARY:
        amount *= _BINARY[suffix]
    else:
        amount *= Fraction(10) ** (power or _DECIMAL[suffix or ""])
    if rounded(amount) > MAX_AMOUNT:
        raise QuantityError(f"{text!r} is larger than 2^63-1, the largest amount Kubernetes can hold")
    signed = -amount if sign == "-" else amount
    return signed.numerator if signed.denominator == 1 else signed


def is_whole(text: str) -> bool:
    """Return whether a valid quantity is a whole number."""
    try:
        return parse_quantity(text, 1000) % 1000 == 0
    except QuantityError:  # beyond a 64-bit integer of thousandths
        return True


def _explain(text: str) -> str:
    shown = text if len(text) <= _MAX_LENGTH else text[:_MAX_LENGTH] + "…"
    allowed = (
        "a number with one of the suffixes m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei, such as 500m or 1.5Gi"
    )
    match = _WRITTEN.fullmatch(shown)
    if match:
        number, unit = match.group(1).replace("_", ""), match.group(2)
        number = number.replace(",", ".") if number.count(",") == 1 else number.replace(",", "")
        suggestion = number + _CORRECTED_UNITS.get(unit.lower(), unit)
        if _QUANTITY.fullmatch(suggestion):
            return f"{shown!r} is not a quantity: did you mean {suggestion!r}?"
    return f"{shown!r} is not a quantity: write {allowed}"


def parse_resource(name: str, text: str) -> int:
    """Return the amount of the resource ``name``: millicores for cpu, base units otherwise."""
    return parse_quantity(text, _scale(name))


def exact_resource(name: str, text: str) -> Fraction | int:
    """Return the amount of the resource ``name`` in the same unit, not rounded: for sums."""
    return exact_quantity(text, _scale(name))


def _scale(name: str) -> int:
    return 1000 if name == "cpu" else 1


def format_resource(name: str, amount: int) -> str:
    """Format an amount in the canonical form of its resource, like the API server.

    Cpu is given in millicores (``250m``, ``2``); memory, storage and hugepages in the largest
    binary unit that divides them (``1536Mi``); everything else as a plain number.
    """
    if name == "cpu":
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    if name in ("memory", "ephemeral-storage", "storage") or name.startswith("hugepages-"):
        for suffix, unit in reversed(_BINARY.items()):
            if amount and amount % unit == 0:
                return f"{amount // unit}{suffix}"
    return str(amount)
