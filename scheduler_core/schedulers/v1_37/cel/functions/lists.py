"""Lists and sets (cel-go's ext.Lists version 3 and ext.Sets, Kubernetes' lists version 1)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from itertools import pairwise
from typing import Any

from scheduler_core.schedulers.v1_37.cel.errors import CelError
from scheduler_core.schedulers.v1_37.cel.functions.operators import add
from scheduler_core.schedulers.v1_37.cel.functions.table import (
    FunctionDecl,
    Library,
    Overload,
    library,
    merged,
    row,
)
from scheduler_core.schedulers.v1_37.cel.values import (
    NO_OVERLOAD,
    Duration,
    UInt,
    can_order,
    equal,
    order,
    type_name,
)

_ORDERED = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_RUNTIME = {"duration": "google.protobuf.Duration", "timestamp": "google.protobuf.Timestamp"}
_ZEROS: dict[str, Any] = {"int": 0, "uint": UInt(0), "double": 0.0, "duration": Duration(0)}
MAX_RANGE = 1_000_000
"""Numbers of a list that ``lists.range`` may make: as many as the cost of a selector allows."""


def _slice(values: list[Any], start: int, end: int) -> list[Any]:
    problem = f"cannot slice({start}, {end}), "
    if start < 0 or end < 0:
        raise CelError(problem + "negative indexes not supported")
    if start > end:
        raise CelError(problem + "start index must be less than or equal to end index")
    if len(values) < end:
        raise CelError(f"{problem}list is length {len(values)}")
    return values[start:end]


def _flatten(values: Any, depth: Any = None) -> list[Any]:
    if not isinstance(values, list):
        shown = "" if depth is None else type_name(depth)
        raise CelError(f"{NO_OVERLOAD}: {type_name(values)}.flatten({shown})")
    return _flattened(values, 1 if depth is None else depth)


def _flattened(values: list[Any], depth: int) -> list[Any]:
    if depth < 0:
        raise CelError("level must be non-negative")
    out: list[Any] = []
    for value in values:
        out += _flattened(value, depth - 1) if isinstance(value, list) and depth else [value]
    return out


def _range(count: int) -> list[Any]:
    if count < 0:
        raise CelError(f"lists.range: size must be non-negative, got {count}")
    if count > MAX_RANGE:
        raise CelError(f"lists.range: more than {MAX_RANGE} numbers are not supported")
    return list(range(count))


def _distinct(values: list[Any]) -> list[Any]:
    out: list[Any] = []
    for value in values:
        if not any(equal(value, each) is True for each in out):
            out.append(value)
    return out


def _sort_by(values: list[Any], keys: list[Any]) -> list[Any]:
    if len(values) != len(keys):
        wanted = "expected a list of the same size as the associated keys list, but got"
        raise CelError(
            f"@sortByAssociatedKeys() {wanted} {len(values)} and {len(keys)} elements respectively"
        )
    if keys and not can_order(keys[0]):
        raise CelError("list elements must be comparable")
    if any(type(key) is not type(keys[0]) for key in keys):
        raise CelError("list elements must have the same type")
    by_key = cmp_to_key(order)
    return [values[index] for index in sorted(range(len(keys)), key=lambda index: by_key(keys[index]))]


def _is_sorted(values: list[Any]) -> bool:
    if not all(map(can_order, values)):
        raise CelError(NO_OVERLOAD)
    return all(_compared(one, other) <= 0 for one, other in pairwise(values))


def _compared(one: Any, other: Any) -> int:
    try:
        return order(one, other)
    except CelError:
        return 0


def _sum(kind: str) -> Callable[[list[Any]], Any]:
    def run(values: list[Any]) -> Any:
        total = _ZEROS[kind]
        for value in values:
            total = add(total, value)
        return total

    return run


def _extreme(name: str, sign: int) -> Callable[[list[Any]], Any]:
    def run(values: list[Any]) -> Any:
        if not all(map(can_order, values)):
            raise CelError(NO_OVERLOAD)
        if not values:
            raise CelError(f"{name} called on empty list")
        best = values[0]
        for value in values[1:]:
            best = value if _compared(value, best) == sign else best
        return best

    return run


def _index_of(values: list[Any], item: Any) -> int:
    return next((index for index, value in enumerate(values) if equal(value, item) is True), -1)


def _last_index_of(values: list[Any], item: Any) -> int:
    return next((index for index in reversed(range(len(values))) if equal(values[index], item) is True), -1)


def _includes(target: Any, item: Any) -> bool:
    if isinstance(target, list):
        return any(equal(value, item) is True for value in target)
    return equal(target, item) is True


def _contains(values: list[Any], part: list[Any]) -> bool:
    return all(_includes(values, value) for value in part)


def _templated() -> list[Overload]:
    out = []
    for kind in _ORDERED:
        out.append(row(f"list_{kind}_is_sorted_bool", f"list({kind}).isSorted() -> bool", _is_sorted))
        if kind in _ZEROS:
            out.append(row(f"list_{kind}_sum_{kind}", f"list({kind}).sum() -> {kind}", _sum(kind)))
        for name, sign in (("max", 1), ("min", -1)):
            run = _extreme(name, sign)
            out.append(row(f"list_{kind}_{name}_{kind}", f"list({kind}).{name}() -> {kind}", run))
    return out


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


LIBRARY: Library = merged(
    library(
        [
            row("list_slice", "list(T).slice(int, int) -> list(T)", _slice),
            row("lists_range", "lists.range(int) -> list(int)", _range),
            row("list_reverse", "list(T).reverse() -> list(T)", lambda values: values[::-1]),
            row("list_distinct", "list(T).distinct() -> list(T)", _distinct),
            row("list_a_index_of_int", "list(A).indexOf(A) -> int", _index_of),
            row("list_a_last_index_of_int", "list(A).lastIndexOf(A) -> int", _last_index_of),
            row("list_includes_dyn_dyn", "dyn.includes(dyn) -> bool", _includes),
            row("list_sets_contains_list", "sets.contains(list(T), list(T)) -> bool", _contains),
            row(
                "list_sets_equivalent_list",
                "sets.equivalent(list(T), list(T)) -> bool",
                lambda one, other: _contains(one, other) and _contains(other, one),
            ),
            row(
                "list_sets_intersects_list",
                "sets.intersects(list(T), list(T)) -> bool",
                lambda one, other: any(_includes(other, value) for value in one),
            ),
            *_templated(),
        ]
    ),
    library(
        [
            row("list_flatten", "list(list(T)).flatten() -> list(T)", _flatten),
            row("list_flatten_int", "list(dyn).flatten(int) -> list(dyn)", _flatten),
        ],
        guarded=False,
    ),
    {
        "sort": FunctionDecl(
            "sort",
            [
                row(f"list_{_RUNTIME.get(one, one)}_sort", f"list({one}).sort() -> list({one})")
                for one in _ORDERED
            ],
            lambda values: _sort_by(values, values),
            _is_list,
        ),
        "@sortByAssociatedKeys": FunctionDecl(
            "@sortByAssociatedKeys",
            [
                row(
                    f"list_{_RUNTIME.get(one, one)}_sortByAssociatedKeys",
                    f"list(T).@sortByAssociatedKeys(list({one})) -> list(T)",
                )
                for one in _ORDERED
            ],
            _sort_by,
            _is_list,
        ),
    },
)
