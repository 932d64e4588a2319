"""The texts of ``format`` (cel-go's ext/formatting.go)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from scheduler_core.schedulers.v1_37.cel.errors import CelError
from scheduler_core.schedulers.v1_37.cel.values import (
    CelMap,
    Duration,
    Timestamp,
    TypeValue,
    UInt,
    is_number,
    text_limited,
    type_name,
)

MAX_PRECISION = 1000
"""Decimals; cel-go has no limit at this version of its library."""


class Clause(NamedTuple):
    """A part of a format: literal text, or a verb with its precision."""

    text: str
    verb: str = ""
    precision: int | None = None


def clauses(text: str) -> Iterator[Clause]:
    """Yield the parts of a format. Raises CelError."""
    place = 0
    while place < len(text):
        if text[place] != "%":
            end = text.find("%", place)
            end = len(text) if end < 0 else end
            yield Clause(text[place:end])
            place = end
        elif text[place + 1 : place + 2] == "%":
            yield Clause("%")
            place += 2
        else:
            clause, place = _clause(text, place + 1)
            yield clause


def _clause(text: str, place: int) -> tuple[Clause, int]:
    if place >= len(text):
        return Clause("", "<end>"), place
    precision = None
    if text[place] == ".":
        end = place + 1
        while end < len(text) and text[end].isascii() and text[end].isdigit():
            end += 1
        precision, place = _precision(text, place + 1, end), end
    return Clause("", text[place], precision), place + 1


def _precision(text: str, start: int, end: int) -> int:
    problem = "could not parse formatting clause: error while parsing precision: "
    if end >= len(text):
        raise CelError(problem + "could not find end of precision specifier")
    if start == end:
        reason = 'error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax'
        raise CelError(problem + reason)
    if end - start > 9 or int(text[start:end]) > MAX_PRECISION:
        raise CelError(f"a precision of more than {MAX_PRECISION} is not supported")
    return int(text[start:end])


_OF_STRINGS = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, "
    "and timestamps"
)
VERBS: dict[str, tuple[str, tuple[str, ...]]] = {
    "s": (
        _OF_STRINGS,
        (
            "list",
            "map",
            "int",
            "uint",
            "double",
            "bool",
            "string",
            "timestamp",
            "bytes",
            "duration",
            "type",
            "null",
        ),
    ),
    "d": ("decimal clause can only be used on integers", ("int", "uint")),
    "f": ("fixed-point clause can only be used on doubles", ("double", "string")),
    "e": ("scientific clause can only be used on doubles", ("double", "string")),
    "b": ("only integers and bools can be formatted as binary", ("int", "uint", "bool")),
    "x": (
        "only integers, byte buffers, and strings can be formatted as hex",
        ("int", "uint", "string", "bytes"),
    ),
    "X": (
        "only integers, byte buffers, and strings can be formatted as hex",
        ("int", "uint", "string", "bytes"),
    ),
    "o": ("octal clause can only be used on integers", ("int", "uint")),
}
"""Each verb's error for other types, and the kinds that the checker admits."""


def unknown_verb(verb: str) -> CelError | None:
    """Return the error of a verb that there is not."""
    if verb == "<end>":
        return CelError("unexpected end of string")
    if verb not in VERBS:
        return CelError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')
    return None


def format_text(text: str, arguments: list[Any]) -> str:
    """Format arguments by a text. Raises CelError."""
    out: list[str] = []
    used = 0
    for clause in clauses(text):
        if not clause.verb:
            out.append(clause.text)
            continue
        if used >= len(arguments):
            raise CelError(f"index {used} out of range")
        if (problem := unknown_verb(clause.verb)) is not None:
            raise problem
        out.append(_formatted(clause, arguments[used]))
        used += 1
    return text_limited("".join(out))


def _formatted(clause: Clause, value: Any) -> str:
    made = _FORMATTERS[clause.verb](clause, value)
    if made is None:
        complaint = VERBS[clause.verb][0]
        raise CelError(f"error during formatting: {complaint}, was given {type_name(value)}")
    return made


def _string(_: Clause, value: Any) -> str | None:
    from scheduler_core.schedulers.v1_37.cel.functions.standard import to_string

    if value is None:
        return "null"
    if isinstance(value, TypeValue):
        return value.name
    if isinstance(value, list | CelMap):
        return _inner(value)
    if is_number(value) or isinstance(value, bool | str | bytes | Timestamp | Duration):
        return to_string(value)
    return None


def _inner(value: Any) -> str:
    """Return a value within a list or map, quoted."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return f"[{', '.join(map(_inner, value))}]"
    if isinstance(value, CelMap):
        entries = sorted((_inner(key), _inner(item)) for key, item in value.items())
        return "{" + ", ".join(f"{key}:{item}" for key, item in entries) + "}"
    if isinstance(value, float):
        return f"{value:.6f}" if math.isfinite(value) else json.dumps(_special(value))
    made = _string(Clause(""), value)
    if made is None:
        raise CelError(f"error during formatting: no formatting function for {type_name(value)}")
    if isinstance(value, bytes):
        return f"b{json.dumps(made, ensure_ascii=False)}"
    if isinstance(value, Timestamp | Duration):
        return f'{"timestamp" if isinstance(value, Timestamp) else "duration"}("{made}")'
    return made


def _special(value: float) -> str:
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"


def _decimal(_: Clause, value: Any) -> str | None:
    return str(int(value)) if isinstance(value, int) and not isinstance(value, bool) else None


def _double_of(value: Any) -> float | None:
    if isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity"):
        return float(value)
    return value if isinstance(value, float) else None


def _fixed(clause: Clause, value: Any) -> str | None:
    number = _double_of(value)
    if number is None:
        return None
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "∞" if number > 0 else "-∞"
    return f"{number:,.{6 if clause.precision is None else clause.precision}f}"


def _scientific(clause: Clause, value: Any) -> str | None:
    """Write six decimals; what should be the precision is the least width instead, as in cel-go."""
    number = _double_of(value)
    if number is None:
        return None
    if math.isfinite(number):
        digits, _, power = f"{number:.6e}".partition("e")
        superscript = str(abs(int(power))).zfill(2).translate(_SUPERSCRIPTS)
        made = f"{digits}×10{'⁻' if int(power) < 0 else ''}{superscript}"
    else:
        made = "NaN" if math.isnan(number) else "∞" if number > 0 else "-∞"
    return made.rjust(6 if clause.precision is None else clause.precision)


_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _binary(_: Clause, value: Any) -> str | None:
    return f"{int(value):b}" if isinstance(value, int | UInt) else None


def _hexadecimal(clause: Clause, value: Any) -> str | None:
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        made = value.hex()
    elif isinstance(value, int) and not isinstance(value, bool):
        made = f"{int(value):x}"
    else:
        return None
    return made.upper() if clause.verb == "X" else made


def _octal(_: Clause, value: Any) -> str | None:
    return f"{int(value):o}" if isinstance(value, int) and not isinstance(value, bool) else None


_FORMATTERS: dict[str, Callable[[Clause, Any], str | None]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "x": _hexadecimal,
    "X": _hexadecimal,
    "o": _octal,
}
