"""What all bodies have in common."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from scheduler_core.kubernetes.plain import Count

T = TypeVar("T")
Json = dict[str, Any]
DateTime = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
Expires = Annotated[
    DateTime | None,
    Meta(description="Kept until then; opening it postpones the date. null: it never expires"),
]
Totals = dict[str, Count]


class Payload(Struct):
    """A body."""


def sent(value: T | UnsetType | None) -> T | None:
    """Return the value of a field that may be left out, None if it was."""
    return None if value is UNSET else value
