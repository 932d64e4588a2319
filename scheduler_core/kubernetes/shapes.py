"""Shapes of manifests without a typed reader, and the check that reports what does not have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.quantity import parse_quantity
from scheduler_core.kubernetes.readers import At, Reader

ANY = "*"  # each field of an object
QUANTITY = "a quantity, such as 500m or 1Gi"
NAME = "a string that is not empty"
MOST_COMPILED = 100_000
"""Characters of different expressions that are compiled when a text is loaded."""

MOST_SHOWN = 200
"""Characters of a string in a message about it."""

Shape = Any
"""A type, QUANTITY, NAME, one of the classes below, a list with its items' shape, or the shapes of an
object's fields; "!": required."""


class Words(Struct, frozen=True):
    """One of some strings."""

    words: tuple[str, ...]


class Whole(Struct, frozen=True):
    """An integer from ``least`` on."""

    least: int


class OneOf(Struct, frozen=True):
    """An object that has exactly one of some fields; an empty list counts as none."""

    names: tuple[str, ...]
    fields: Mapping[str, Shape]


class Absent(Struct, frozen=True):
    """A field that may not be there; ``why`` is the error."""

    why: str


class Admitted(Struct, frozen=True):
    """A string that is not empty. Functions return why the API server refuses it, why it has no effect."""

    refusal: Callable[[str], str]
    limitation: Callable[[str], str]


class Typed(Struct, frozen=True):
    """What the reader of a typed object accepts."""

    read: Reader


_NAMES: Mapping[type, str] = {
    str: "a string",
    int: "an integer",
    dict: "an object",
    bool: "true or false",
}


def check(value: Any, shape: Shape, at: At) -> None:
    """Report where a value does not have a shape; null is an absent value."""
    if value is None:
        return
    if isinstance(shape, Typed):
        shape.read(value, at)
    elif isinstance(shape, OneOf):
        check(value, shape.fields, at)
        if isinstance(value, Mapping):
            there = [name for name in shape.names if value.get(name) not in (None, [])]
            if len(there) != 1:
                at.error(f"must have exactly one of {', '.join(shape.names)}")
    elif isinstance(shape, Mapping):
        _check_object(value, shape, at)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            at.error("must be a list")
            return
        for place, inner in enumerate(value):
            if inner is None:
                at.child(place).error("must not be null")
            check(inner, shape[0], at.child(place))
    elif isinstance(shape, Admitted) and isinstance(value, str) and value:
        _check_admitted(value, shape, at)
    else:
        wrong = _wrong(value, shape)
        if wrong:
            at.error(wrong)


def _check_admitted(value: str, shape: Admitted, at: At) -> None:
    """Report why a string is refused or has no effect, up to a number of characters of such strings."""
    report = at.report
    new = 0 if value in report.expressions else len(value)
    if report.compiled + new > MOST_COMPILED:
        at.warn(
            f"is checked when it is evaluated: the text has more than {MOST_COMPILED:,} characters of others"
        )
        return
    report.expressions.add(value)
    report.compiled += new
    shown = value if len(value) <= MOST_SHOWN else f"{value[:MOST_SHOWN]}…"
    if reason := shape.refusal(value):
        at.refuse(f'invalid value "{shown}": {reason}')
    elif reason := shape.limitation(value):
        at.warn(f'"{shown}" cannot be evaluated: {reason}')


def _check_object(value: Any, shape: Mapping[str, Shape], at: At) -> None:
    if not isinstance(value, Mapping):
        at.error("must be an object")
        return
    for key, inner in shape.items():
        name = key.rstrip("!")
        if name != key and value.get(name) is None:
            at.child(name).error("is required")
        for field in value if key == ANY else (name,):
            if not isinstance(field, str):
                at.error(f"the name of the field {field} must be a string")
                continue
            if key == ANY and value[field] is None:
                at.child(field).error("must not be null")
            if (given := value.get(field)) is not None:
                check(given, inner, at.child(field))


def _wrong(value: Any, shape: Shape) -> str:
    """Return what is wrong about a value that has no parts, or an empty string."""
    match shape:
        case Absent(why=why):
            return why
        case Words(words=words):
            return "" if value in words else f"must be one of {', '.join(words)}"
        case Whole(least=least):
            fits = isinstance(value, int) and not isinstance(value, bool) and value >= least
            return "" if fits else f"must be an integer, {least} or more"
    if shape == QUANTITY:
        return "" if _is_quantity(value) else f"must be {QUANTITY}"
    if shape == NAME or isinstance(shape, Admitted):
        return "" if isinstance(value, str) and value else f"must be {NAME}"
    fits = isinstance(value, Mapping if shape is dict else shape)
    return "" if fits and (shape is bool or not isinstance(value, bool)) else f"must be {_NAMES[shape]}"


def _is_quantity(value: Any) -> bool:
    try:
        parse_quantity(str(value))
    except ValueError:
        return False
    return not isinstance(value, (bool, Mapping, list))
