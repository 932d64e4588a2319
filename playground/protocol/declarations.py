"""What a type of what is sent says beyond Python: names of its own, and lists whose places have meanings."""

from __future__ import annotations

from typing import Any, NamedTuple


class Named(NamedTuple):
    """The name under which the browser's modules know an alias."""

    name: str


class Raw(NamedTuple):
    """A type in TypeScript, for what only the browser's modules need exactly: a part of another type."""

    text: str


class Places(NamedTuple):
    """The types of a list by place; those of ``rest`` follow."""

    places: tuple[tuple[str, Any], ...]
    rest: Any


def row(*, rest: Any = None, **places: Any) -> Places:
    """Return the places of a list that is sent for an object, which keeps long tables short.

    A name that Python reserves has an underscore at its end; one at its beginning is not shown.
    """
    return Places(tuple((name.removesuffix("_"), kind) for name, kind in places.items()), rest)
