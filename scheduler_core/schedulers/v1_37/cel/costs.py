"""What calls cost when they are evaluated (cel-go's runtimecost.go, the API server's library/cost.go)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.schedulers.v1_37.cel.errors import CelError, CostExceededError, InternalError
from scheduler_core.schedulers.v1_37.cel.functions.formats import Format
from scheduler_core.schedulers.v1_37.cel.functions.network import CIDR, IP
from scheduler_core.schedulers.v1_37.cel.functions.urls import URL
from scheduler_core.schedulers.v1_37.cel.values import CelMap, Quantity, Semver, go_type, size, type_name

LIST, MAP = 10, 30
"""Costs of making a list and a map."""

TRAVERSAL, PATTERN = 0.1, 0.25
"""Costs of a character of a string, and of one of a regular expression."""


class CostTracker:
    """Counts costs. Raises CostExceededError beyond the limit."""

    __slots__ = ("cost", "limit")

    def __init__(self, limit: int) -> None:
        self.cost = 0
        self.limit = limit

    def charge(self, cost: int) -> None:
        """Add a cost."""
        self.cost += cost
        if self.cost > self.limit:
            raise CostExceededError


Cost = Callable[[list[Any], Any], int]


def _read(index: int, factor: float = TRAVERSAL) -> Cost:
    """Make the cost of reading an argument once."""
    return lambda arguments, _: math.ceil(size(arguments[index]) * factor)


def _shorter(arguments: list[Any], _: Any) -> int:
    return math.ceil(min(size(arguments[0]), size(arguments[1])) * TRAVERSAL)


def _both(arguments: list[Any], _: Any) -> int:
    return math.ceil((size(arguments[0]) + size(arguments[1])) * TRAVERSAL)


def _matched(arguments: list[Any], _: Any) -> int:
    return matching(size(arguments[0]), size(arguments[1]))


def matching(length: int, pattern: int) -> int:
    """Return the cost of matching a string of a length with a pattern."""
    return math.ceil((1.0 + length) * TRAVERSAL) * math.ceil(pattern * PATTERN)


def _contained(arguments: list[Any], _: Any) -> int:
    return math.ceil(size(arguments[0]) * TRAVERSAL) * math.ceil(size(arguments[1]) * TRAVERSAL)


def _walk(value: Any) -> int:
    """Return the cost of going through a value with all in it."""
    if isinstance(value, str | bytes):
        return int(len(value.encode() if isinstance(value, str) else value) * TRAVERSAL)
    if isinstance(value, list):
        return sum(map(_walk, value))
    if isinstance(value, CelMap):
        return sum(_walk(key) + _walk(item) for key, item in value.items())
    return 1


def _one(_: list[Any], __: Any) -> int:
    return 1


def _made(factor: float, elements: int) -> int:
    return int(elements * (factor if factor >= 0 else 1.0)) + 1 + LIST


def _output(_: list[Any], result: Any) -> int:
    return _made(1, size(result))


def _flattened(arguments: list[Any], _: Any) -> int:
    depth = arguments[1] if len(arguments) == 2 else 1
    if type(depth) is not int:
        raise InternalError("ref.Val is types.String, not types.Int")
    return _made(depth, size(arguments[0]))


def _self_compared(index: int) -> Cost:
    def cost(arguments: list[Any], _: Any) -> int:
        values = arguments[index]
        if not isinstance(values, list):
            missing = "Add" if isinstance(values, CelError) else "Contains"
            name = go_type(type_name(values))
            raise InternalError(f"{name} is not traits.Lister: missing method {missing}")
        strings = bool(values) and isinstance(values[0], str | bytes)
        return _made(2.0 + TRAVERSAL if strings else 2.0, size(values) ** 2)

    return cost


def _sets(factor: float) -> Cost:
    return lambda arguments, _: 1 + int(size(arguments[0]) * size(arguments[1]) * factor)


def _contains(*, cidr: bool, text: bool) -> Cost:
    """Make the cost of looking for an address or a network in a network."""

    def cost(arguments: list[Any], _: Any) -> int:
        network, other = size(arguments[0]), size(arguments[1])
        total = math.ceil(network * 2 * TRAVERSAL)
        total += math.ceil(network * TRAVERSAL) + 1 if cidr else 0
        return total + (math.ceil(other * TRAVERSAL) if text else 0)

    return cost


def _validated(arguments: list[Any], _: Any) -> int:
    form = arguments[0]
    return matching(size(arguments[1]), form.length) if isinstance(form, Format) else 1


def _equal(arguments: list[Any], result: Any) -> int:
    if isinstance(arguments[0], Quantity | Semver | IP | CIDR | Format | URL):
        return 1
    return _shorter(arguments, result)


_KINDS = "int uint double bool google.protobuf.Duration google.protobuf.Timestamp string bytes".split()

BY_OVERLOAD: Mapping[str, Cost] = {
    "list_slice": _output, "lists_range": _output, "list_reverse": _output,
    "list_distinct": _self_compared(0),
    "list_flatten": _flattened, "list_flatten_int": _flattened,
    **{f"list_{kind}_sort": _self_compared(0) for kind in _KINDS},
    **{f"list_{kind}_sortByAssociatedKeys": _self_compared(1) for kind in _KINDS},
    "list_sets_contains_list": _sets(1), "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
    "cidr_ip": _one,
    "cidr_contains_ip_string": _contains(cidr=False, text=True),
    "cidr_contains_cidr_string": _contains(cidr=True, text=True),
}  # fmt: skip
"""Costs of cel-go's extensions, and of single overloads, which come first."""


def _each(names: str, cost: Cost) -> dict[str, Cost]:
    return dict.fromkeys(names.split(), cost)


BY_FUNCTION: Mapping[str, Cost] = {
    **_each("isSorted sum max min indexOf lastIndexOf includes", lambda arguments, _: _walk(arguments[0])),
    **_each("url lowerAscii upperAscii substring trim cidr isIP isCIDR ip", _read(0)),
    **_each("quantity isQuantity semver isSemver", _read(0)),
    **_each("replace split ip.isCanonical", _read(0, 2 * TRAVERSAL)),
    "join": lambda _, result: math.ceil(size(result) * 2 * TRAVERSAL),
    **_each("find findAll", _matched),
    "containsIP": _contains(cidr=False, text=False),
    "containsCIDR": _contains(cidr=True, text=False),
    "validate": _validated,
    "_==_": _equal,
}
"""Costs of Kubernetes, by the function alone."""

BY_STANDARD: Mapping[str, Cost] = {
    **_each("starts_with_string ends_with_string", _read(1)),
    **_each("string_to_bytes bytes_to_string strings_quote string_format", _read(0)),
    "in_list": lambda arguments, _: size(arguments[1]),
    **{
        f"{name}_{kind}": _shorter
        for name in ("less", "greater", "less_equals", "greater_equals")
        for kind in ("string", "bytes")
    },
    "not_equals": _shorter,
    **_each("add_string add_bytes", _both),
    **_each("matches matches_string", _matched),
    "contains_string": _contained,
}
"""Costs of the standard library, for calls of one overload alone; all others cost 1."""


BY_RESULT = frozenset({"join", "slice", "lists.range", "reverse"})
"""Functions whose cost depends on their result; that of others is counted before they run."""


def cost_of(function: str, overload: str) -> Cost:
    """Return how the cost of a call is computed, from its arguments and its result."""
    return BY_OVERLOAD.get(overload) or BY_FUNCTION.get(function) or BY_STANDARD.get(overload) or _one
