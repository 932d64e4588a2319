"""Operators: arithmetic, order, equality, logic, membership and indexes (common/stdlib)."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

from scheduler_core.schedulers.v1_37.cel.errors import CelError
from scheduler_core.schedulers.v1_37.cel.functions.table import FunctionDecl, Library, Overload, row
from scheduler_core.schedulers.v1_37.cel.values import (
    NO_OVERLOAD,
    CelMap,
    Duration,
    Timestamp,
    UInt,
    can_order,
    equal,
    is_int,
    is_number,
    is_uint,
    order,
    text_limited,
)

MIN_SECONDS, MAX_SECONDS = -62135596800, 253402300799
"""Seconds since 1970 of the years 1 to 9999, which timestamps are within."""


def whole(number: int, kind: type) -> int:
    """Return an int or uint. Raises CelError if it does not fit in 64 bits."""
    if kind is UInt:
        if not is_uint(number):
            raise CelError("unsigned integer overflow")
        return UInt(number)
    if not is_int(number):
        raise CelError("integer overflow")
    return number


def duration(nanoseconds: int) -> Duration:
    """Return a duration. Raises CelError if it does not fit in 64 bits."""
    if not is_int(nanoseconds):
        raise CelError("duration overflow")
    return Duration(nanoseconds)


def timestamp(nanoseconds: int, offset: int = 0) -> Timestamp:
    """Return a timestamp. Raises CelError outside the years 1 to 9999."""
    if not MIN_SECONDS <= nanoseconds // 10**9 <= MAX_SECONDS:
        raise CelError("timestamp overflow")
    return Timestamp(nanoseconds, offset)


def add(one: Any, other: Any) -> Any:
    """Add numbers or times, or join strings, bytes or lists."""
    if isinstance(one, Duration | Timestamp):
        return _add_times(one, other)
    if type(one) is not type(other):
        if isinstance(one, list) and isinstance(other, list):
            return one.joined(other) if isinstance(one, Growing) else one + other
        raise CelError(NO_OVERLOAD)
    if isinstance(one, str):
        return text_limited(one + other)
    return _arithmetic(lambda a, b: a + b)(one, other) if is_number(one) else one + other


class Growing(list[Any]):
    """The list that a comprehension collects: it grows in place, as only the comprehension has it."""

    def joined(self, other: list[Any]) -> Growing:
        """Add the elements of another list."""
        self.extend(other)
        return self


def _add_times(one: Any, other: Any) -> Any:
    if isinstance(one, Duration) and isinstance(other, Duration):
        return duration(one.nanoseconds + other.nanoseconds)
    if isinstance(one, Timestamp) and isinstance(other, Timestamp):
        raise CelError(NO_OVERLOAD)
    if not isinstance(other, Duration | Timestamp):
        raise CelError(NO_OVERLOAD)
    offset = one.offset if isinstance(one, Timestamp) else getattr(other, "offset", 0)
    return timestamp(one.nanoseconds + other.nanoseconds, offset)


def _subtract(one: Any, other: Any) -> Any:
    if isinstance(one, Duration) and isinstance(other, Duration):
        return duration(one.nanoseconds - other.nanoseconds)
    if isinstance(one, Timestamp) and isinstance(other, Timestamp):
        return duration(one.nanoseconds - other.nanoseconds)
    if isinstance(one, Timestamp) and isinstance(other, Duration):
        return timestamp(one.nanoseconds - other.nanoseconds, one.offset)
    return _arithmetic(lambda a, b: a - b)(one, other)


def _arithmetic(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Make an operator of two numbers of one type."""

    def run(one: Any, other: Any) -> Any:
        if type(one) is not type(other) or not is_number(one):
            raise CelError(NO_OVERLOAD)
        out = compute(one, other)
        return out if isinstance(one, float) else whole(int(out), type(one))

    return run


def _multiply(one: Any, other: Any) -> Any:
    return one * other


def _divide(one: Any, other: Any) -> Any:
    if isinstance(one, float):
        if other:
            return one / other
        sign = math.copysign(1, one) * math.copysign(1, other)
        return math.nan if not one or math.isnan(one) else sign * math.inf
    if not other:
        raise CelError("division by zero")
    return _truncated(one, other)


def _truncated(one: int, other: int) -> int:
    quotient = abs(one) // abs(other)
    return quotient if (one < 0) is (other < 0) else -quotient


def _modulo(one: Any, other: Any) -> Any:
    if isinstance(one, float):
        raise CelError(NO_OVERLOAD)
    if not other:
        raise CelError("modulus by zero")
    return one - other * _truncated(one, other)


def _negate(value: Any) -> Any:
    return -value if isinstance(value, float) else whole(-value, int)


def _not(value: Any) -> Any:
    if not isinstance(value, bool):
        raise CelError(NO_OVERLOAD)
    return not value


def _is_in(value: Any, container: Any) -> bool:
    if isinstance(container, list):
        return any(equal(value, each) is True for each in container)
    if isinstance(container, CelMap):
        return container.has(value)
    raise CelError(NO_OVERLOAD)


_SORTS = {"int64": "int", "uint64": "uint", "double": "double"}
_ORDERS: dict[str, tuple[str, Callable[[int], bool]]] = {
    "_<_": ("less", lambda sign: sign < 0),
    "_<=_": ("less_equals", lambda sign: sign <= 0),
    "_>_": ("greater", lambda sign: sign > 0),
    "_>=_": ("greater_equals", lambda sign: sign >= 0),
}
_ARITHMETIC: dict[str, tuple[str, str, Callable[[Any, Any], Any]]] = {
    "_+_": ("add", "bytes double duration int64 list string uint64", add),
    "_-_": ("subtract", "double duration int64 uint64", _subtract),
    "_*_": ("multiply", "double int64 uint64", _arithmetic(_multiply)),
    "_/_": ("divide", "double int64 uint64", _arithmetic(_divide)),
    "_%_": ("modulo", "int64 uint64", _arithmetic(_modulo)),
}
_TIMES = {
    "_+_": (
        row("add_duration_timestamp", "_+_(duration, timestamp) -> timestamp"),
        row("add_timestamp_duration", "_+_(timestamp, duration) -> timestamp"),
    ),
    "_-_": (
        row("subtract_timestamp_duration", "_-_(timestamp, duration) -> timestamp"),
        row("subtract_timestamp_timestamp", "_-_(timestamp, timestamp) -> duration"),
    ),
}


def _arithmetic_rows(function: str, name: str, kinds: str) -> list[Overload]:
    out = []
    for kind in kinds.split():
        sort = "list(A)" if kind == "list" else _SORTS.get(kind, kind)
        id_ = f"{name}_{kind}_{kind}" if kind == "duration" else f"{name}_{kind}"
        out.append(row(id_, f"{function}({sort}, {sort}) -> {sort}"))
    return out


def _order_rows(function: str, name: str) -> list[Overload]:
    pairs = [(one, other) for one, other in product(_SORTS, _SORTS)]
    same = [(kind, kind) for kind in ("bool", "string", "bytes", "timestamp", "duration")]
    return [
        row(
            f"{name}_{one}" if one == other else f"{name}_{one}_{other}",
            f"{function}({_SORTS.get(one, one)}, {_SORTS.get(other, other)}) -> bool",
        )
        for one, other in (same[0], *pairs, *same[1:])
    ]


def _ordering(accepts: Callable[[int], bool]) -> Callable[[Any, Any], bool]:
    return lambda one, other: accepts(order(one, other))


def _adds(value: Any) -> bool:
    return is_number(value) or isinstance(value, str | bytes | list | Duration | Timestamp)


_ADMITS: dict[str, Callable[[Any], bool]] = {
    "_+_": _adds,
    "_-_": lambda value: is_number(value) or isinstance(value, Duration | Timestamp),
    "_%_": lambda value: is_number(value) and not isinstance(value, float),
}

LIBRARY: Library = {
    **{
        function: FunctionDecl(
            function,
            [*_arithmetic_rows(function, name, kinds), *_TIMES.get(function, ())],
            run,
            _ADMITS.get(function, is_number),
        )
        for function, (name, kinds, run) in _ARITHMETIC.items()
    },
    **{
        function: FunctionDecl(function, _order_rows(function, name), _ordering(accepts), can_order)
        for function, (name, accepts) in _ORDERS.items()
    },
    "-_": FunctionDecl(
        "-_",
        [row("negate_double", "-_(double) -> double"), row("negate_int64", "-_(int) -> int")],
        _negate,
        lambda value: is_number(value) and not isinstance(value, UInt),
    ),
    "!_": FunctionDecl("!_", [row("logical_not", "!_(bool) -> bool")], _not),
    "_==_": FunctionDecl("_==_", [row("equals", "_==_(A, A) -> bool")]),
    "_!=_": FunctionDecl("_!=_", [row("not_equals", "_!=_(A, A) -> bool")]),
    "_&&_": FunctionDecl("_&&_", [row("logical_and", "_&&_(bool, bool) -> bool")]),
    "_||_": FunctionDecl("_||_", [row("logical_or", "_||_(bool, bool) -> bool")]),
    "_?_:_": FunctionDecl("_?_:_", [row("conditional", "_?_:_(bool, A, A) -> A")]),
    "@not_strictly_false": FunctionDecl(
        "@not_strictly_false", [row("not_strictly_false", "@not_strictly_false(bool) -> bool")]
    ),
    "@in": FunctionDecl(
        "@in",
        [row("in_list", "@in(A, list(A)) -> bool"), row("in_map", "@in(A, map(A, B)) -> bool")],
        _is_in,
    ),
    "_[_]": FunctionDecl(
        "_[_]",
        [
            row("index_list", "_[_](list(A), int) -> A"),
            row("index_map", "_[_](map(A, B), A) -> B"),
            row("optional_list_index_int", "_[_](optional(list(V)), int) -> optional(V)"),
            row("optional_map_index_value", "_[_](optional(map(K, V)), K) -> optional(V)"),
        ],
    ),
    "_[?_]": FunctionDecl(
        "_[?_]",
        [
            row("list_optindex_optional_int", "_[?_](list(V), int) -> optional(V)"),
            row("optional_list_optindex_optional_int", "_[?_](optional(list(V)), int) -> optional(V)"),
            row("map_optindex_optional_value", "_[?_](map(K, V), K) -> optional(V)"),
            row("optional_map_optindex_optional_value", "_[?_](optional(map(K, V)), K) -> optional(V)"),
        ],
    ),
}
