"""Optional values, and the inserts into maps that macros make (cel.OptionalTypes, TwoVarComprehensions)."""

from __future__ import annotations

from typing import Any

from scheduler_core.schedulers.v1_37.cel.errors import CelError
from scheduler_core.schedulers.v1_37.cel.functions.table import Library, library, row
from scheduler_core.schedulers.v1_37.cel.values import NONE, CelMap, Optional, is_zero, shown


def some(value: Any) -> Optional:
    """Return an optional that has a value."""
    return Optional(value, has_value=True)


def _value(optional: Optional) -> Any:
    if not optional.has_value:
        raise CelError("optional.none() dereference")
    return optional.value


def _unwrapped(values: list[Any]) -> list[Any]:
    for value in values:
        if not isinstance(value, Optional):
            raise CelError(f"value {shown(value)} is not optional")
    return [value.value for value in values if value.has_value]


def _insert_all(target: CelMap, other: CelMap) -> CelMap:
    for key, value in other.items():
        target = target.with_entry(key, value)
    return target


LIBRARY: Library = library(
    [
        row("optional_of", "optional.of(V) -> optional(V)", some),
        row(
            "optional_ofNonZeroValue",
            "optional.ofNonZeroValue(V) -> optional(V)",
            lambda value: NONE if is_zero(value) else some(value),
        ),
        row("optional_none", "optional.none() -> optional(V)", lambda: NONE),
        row("optional_value", "optional(V).value() -> V", _value),
        row("optional_hasValue", "optional(V).hasValue() -> bool", lambda optional: optional.has_value),
        row("optional_or_optional", "optional(V).or(optional(V)) -> optional(V)"),
        row("optional_orValue_value", "optional(V).orValue(V) -> V"),
        row(
            "list_first", "list(V).first() -> optional(V)", lambda values: some(values[0]) if values else NONE
        ),
        row(
            "list_last", "list(V).last() -> optional(V)", lambda values: some(values[-1]) if values else NONE
        ),
        row("optional_unwrap", "optional.unwrap(list(optional(V))) -> list(V)", _unwrapped),
        row("optional_unwrapOpt", "list(optional(V)).unwrapOpt() -> list(V)", _unwrapped),
        row("@mapInsert_map_key_value", "cel.@mapInsert(map(K, V), K, V) -> map(K, V)", CelMap.with_entry),
        row("@mapInsert_map_map", "cel.@mapInsert(map(K, V), map(K, V)) -> map(K, V)", _insert_all),
    ]
)
