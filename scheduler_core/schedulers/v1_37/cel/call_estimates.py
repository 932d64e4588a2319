"""What calls could cost at most (library/cost.go, cel-go's checker/cost.go and ext/lists.go)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scheduler_core.schedulers.v1_37.cel.costs import LIST, PATTERN, TRAVERSAL
from scheduler_core.schedulers.v1_37.cel.nodes import Expr, Literal
from scheduler_core.schedulers.v1_37.cel.sizes import MAX, UNKNOWN, Size, fixed, plus, scaled, times
from scheduler_core.schedulers.v1_37.cel.types import CIDR, FORMAT, IP, QUANTITY, SEMVER, URL, Type

Path = tuple[str, ...]


@dataclass(frozen=True)
class Operand:
    """An argument: where its value comes from, its type, its node and its size as far as that shows."""

    path: Path | None
    type: Type
    node: Expr | None
    computed: Size | None
    declared: Callable[[Path | None], Size | None]

    @property
    def size(self) -> Size:
        """The size, by the declarations of the device if the expression does not determine it."""
        return self.computed or self.declared(self.path) or UNKNOWN

    @property
    def shown(self) -> Size:
        """The size as far as the expression determines it."""
        return self.computed or UNKNOWN

    @property
    def element(self) -> Operand | None:
        """The elements, if it is a list; the keys of a map count as such."""
        if not self.type.parameters:
            return None
        path = None if self.path is None else (*self.path, "@items")
        return Operand(path, self.type.parameters[0], None, None, self.declared)


class Estimate(NamedTuple):
    """The greatest cost of a call without that of its arguments, and the size of its result."""

    cost: int
    result: Size | None = None


Estimator = Callable[[Operand | None, Sequence[Operand]], "Estimate | None"]


def _of(index: int, factor: float = TRAVERSAL) -> Estimator:
    """Make the estimate of reading an argument."""

    def estimate(_: Operand | None, arguments: Sequence[Operand]) -> Estimate | None:
        return Estimate(scaled(arguments[index].size.high, factor)) if len(arguments) > index else None

    return estimate


def _target(factor: float = TRAVERSAL) -> Estimator:
    """Make the estimate of a copy of the target."""

    def estimate(target: Operand | None, _: Sequence[Operand]) -> Estimate | None:
        return Estimate(scaled(target.size.high, factor), target.size) if target else None

    return estimate


def _one(_: Operand | None, __: Sequence[Operand]) -> Estimate:
    return Estimate(1)


def _over_elements(function: str) -> Estimator:
    def estimate(target: Operand | None, _: Sequence[Operand]) -> Estimate | None:
        if target is None:
            return None
        element = target.element
        if element is None:
            high = target.size.high
            return Estimate(high if function == "includes" else scaled(high, TRAVERSAL))
        each = 1
        if element.type.kind in ("string", "bytes"):
            each = plus(each, scaled(element.size.high, TRAVERSAL))
        return Estimate(times(target.size.high, each))

    return estimate


def _url(_: Operand | None, arguments: Sequence[Operand]) -> Estimate:
    return Estimate(scaled(arguments[0].size.high, TRAVERSAL), arguments[0].size)


def _replace(target: Operand | None, arguments: Sequence[Operand]) -> Estimate | None:
    if target is None or len(arguments) < 2:
        return None
    size, old, new = target.size, arguments[0].size, arguments[1].size
    most = _replaced(size.high, old.low, grows=new.high > old.low)
    least = _replaced(size.low, old.high, grows=new.low < old.high)
    result = Size(
        plus(times(least[0], new.low), least[1]),
        plus(times(most[0], new.high), most[1]),
    )
    return Estimate(scaled(size.high, 2 * TRAVERSAL), result)


def _replaced(size: int, old: int, *, grows: bool) -> tuple[int, int]:
    """Return how often a part is replaced in an extreme case, and how much of the text stays."""
    if old == 0:
        return plus(size, 1), size
    return (min(math.ceil(float(size) / float(old)), MAX), 0) if grows else (0, size)


def _split(target: Operand | None, arguments: Sequence[Operand]) -> Estimate | None:
    if target is None:
        return None
    most = target.size.high
    if (
        len(arguments) > 1
        and isinstance(arguments[1].node, Literal)
        and isinstance(arguments[1].node.value, int)
    ):
        most = arguments[1].node.value % 2**64
    return Estimate(scaled(target.size.high, 2 * TRAVERSAL), Size(0, most))


def _join(target: Operand | None, arguments: Sequence[Operand]) -> Estimate | None:
    if target is None:
        return None
    count, element = target.size, target.element
    size = count.times(element.size) if element else fixed(0)
    if arguments:
        gaps = Size(max(count.low - 1, 0), max(count.high - 1, 0))
        size = size.plus(arguments[0].size.times(gaps))
    return Estimate(scaled(size.high, TRAVERSAL), size)


def _matched(text: Size, pattern: Size) -> int:
    return times(scaled(plus(text.high, 1), TRAVERSAL), scaled(pattern.high, PATTERN))


def _find(target: Operand | None, arguments: Sequence[Operand]) -> Estimate | None:
    if target is None or not arguments:
        return None
    return Estimate(_matched(target.size, arguments[0].size), Size(0, target.size.high))


def _contains(*, cidr: bool, text: bool) -> Estimator:
    def estimate(_: Operand | None, arguments: Sequence[Operand]) -> Estimate:
        cost = scaled(32, TRAVERSAL) + (scaled(16, TRAVERSAL) + 1 if cidr else 0)
        more = scaled(arguments[0].size.high, TRAVERSAL) if text else 0
        return Estimate(plus(cost, more))

    return estimate


def _validate(_: Operand | None, arguments: Sequence[Operand]) -> Estimate:
    return Estimate(scaled(scaled(arguments[0].size.high, TRAVERSAL), 128 * PATTERN))


def _equal(_: Operand | None, arguments: Sequence[Operand]) -> Estimate | None:
    kinds = {argument.type for argument in arguments}
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    if kind in (IP, CIDR, QUANTITY, SEMVER):
        return Estimate(1)
    if kind == FORMAT:
        return Estimate(scaled(64, TRAVERSAL))
    if kind == URL:
        return Estimate(scaled((arguments[1].computed or fixed(1)).high, TRAVERSAL))
    return None


def _made(factor: float, size: Size) -> Estimate:
    return Estimate(plus(scaled(size.high, factor), 1 + LIST), size)


def _number(operand: Operand, default: int) -> int:
    value = operand.node.value if isinstance(operand.node, Literal) else None
    if type(value) is not int:
        return default
    return max(value, 0)


def _slice(target: Operand | None, arguments: Sequence[Operand]) -> Estimate | None:
    if target is None:
        return None
    start, end = _number(arguments[0], 0), _number(arguments[1], target.size.high)
    return _made(1, fixed((end - start) % 2**64))


def _range(_: Operand | None, arguments: Sequence[Operand]) -> Estimate:
    return _made(1, fixed(_number(arguments[0], MAX)))


def _flatten(target: Operand | None, arguments: Sequence[Operand]) -> Estimate | None:
    if target is None:
        return None
    return _made(float(_number(arguments[0], MAX) if arguments else 1), target.size)


def _self_compared(factor: float) -> Estimator:
    return lambda target, _: _made(factor, target.size.times(target.size)) if target else None


def _keys_compared(factor: float) -> Estimator:
    return lambda _, arguments: _made(factor, arguments[0].size.times(arguments[0].size))


def _sets(factor: float) -> Estimator:
    def estimate(_: Operand | None, arguments: Sequence[Operand]) -> Estimate:
        product = times(arguments[0].size.high, arguments[1].size.high)
        return Estimate(plus(scaled(product, factor), 1))

    return estimate


_FIXED = "int uint double bool google.protobuf.Duration google.protobuf.Timestamp".split()
_TEXTS = "string bytes".split()

BY_OVERLOAD: Mapping[str, Estimator] = {
    "list_slice": _slice, "lists_range": _range, "list_flatten": _flatten, "list_flatten_int": _flatten,
    "list_reverse": lambda target, _: _made(1, target.size) if target else None,
    "list_distinct": _self_compared(2.0),
    **{f"list_{kind}_sort": _self_compared(2.0) for kind in _FIXED},
    **{f"list_{kind}_sort": _self_compared(2.0 + TRAVERSAL) for kind in _TEXTS},
    **{f"list_{kind}_sortByAssociatedKeys": _keys_compared(2.0) for kind in _FIXED},
    **{f"list_{kind}_sortByAssociatedKeys": _keys_compared(2.0 + TRAVERSAL) for kind in _TEXTS},
    "list_sets_contains_list": _sets(1), "list_sets_intersects_list": _sets(1),
    "list_sets_equivalent_list": _sets(2),
    "cidr_ip": _one,
    "cidr_contains_ip_string": _contains(cidr=False, text=True),
    "cidr_contains_cidr_string": _contains(cidr=True, text=True),
}  # fmt: skip


def _each(names: str, estimator: Estimator) -> dict[str, Estimator]:
    return dict.fromkeys(names.split(), estimator)


BY_FUNCTION: Mapping[str, Estimator] = {
    **{name: _over_elements(name) for name in "isSorted sum max min indexOf lastIndexOf includes".split()},
    "url": _url,
    **_each("lowerAscii upperAscii substring trim", _target()),
    "replace": _replace,
    "split": _split,
    "join": _join,
    **_each("find findAll", _find),
    **_each("cidr isIP isCIDR ip quantity isQuantity semver isSemver", _of(0)),
    "ip.isCanonical": _of(0, 2 * TRAVERSAL),
    "containsIP": _contains(cidr=False, text=False),
    "containsCIDR": _contains(cidr=True, text=False),
    "validate": _validate,
    **_each(
        "masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast "
        "isGlobalUnicast format.named sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan "
        "compareTo add sub major minor patch getScheme getHostname getHost getPort getEscapedPath getQuery",
        _one,
    ),
    "_==_": _equal,
}


def _shorter(_: Operand | None, arguments: Sequence[Operand]) -> Estimate:
    return Estimate(scaled(min(arguments[0].shown.high, arguments[1].shown.high), TRAVERSAL))


def _shown(index: int, factor: float = TRAVERSAL) -> Estimator:
    return lambda _, arguments: Estimate(scaled(arguments[index].shown.high, factor))


def _to_bytes(_: Operand | None, arguments: Sequence[Operand]) -> Estimate:
    size = arguments[0].shown
    return Estimate(scaled(size.high, TRAVERSAL), Size(size.low, size.high * 4 % 2**64))


def _from_bytes(_: Operand | None, arguments: Sequence[Operand]) -> Estimate:
    size = arguments[0].shown
    return Estimate(scaled(size.high, TRAVERSAL), Size(size.low // 4, size.high))


def _quote(_: Operand | None, arguments: Sequence[Operand]) -> Estimate:
    size = arguments[0].shown
    return Estimate(scaled(size.high, TRAVERSAL), Size(size.low + 2, (size.high * 2 + 2) % 2**64))


def _format(target: Operand | None, _: Sequence[Operand]) -> Estimate | None:
    return Estimate(scaled(target.shown.high, TRAVERSAL)) if target else None


def _matches(target: Operand | None, arguments: Sequence[Operand]) -> Estimate:
    text, pattern = (target, arguments[0]) if target else (arguments[0], arguments[1])
    return Estimate(_matched(text.shown, pattern.shown))


def _contains_text(target: Operand | None, arguments: Sequence[Operand]) -> Estimate | None:
    if target is None:
        return None
    one, other = scaled(target.shown.high, TRAVERSAL), scaled(arguments[0].shown.high, TRAVERSAL)
    return Estimate(times(one, other))


def _add(_: Operand | None, arguments: Sequence[Operand]) -> Estimate:
    size = arguments[0].shown.plus(arguments[1].shown)
    return Estimate(scaled(size.high, TRAVERSAL), size)


def _add_lists(_: Operand | None, arguments: Sequence[Operand]) -> Estimate:
    return Estimate(1, arguments[0].shown.plus(arguments[1].shown))


BY_STANDARD: Mapping[str, Estimator] = {
    "string_format": _format,
    "string_to_bytes": _to_bytes,
    "bytes_to_string": _from_bytes,
    "strings_quote": _quote,
    **_each("starts_with_string ends_with_string", _shown(0)),
    "in_list": _shown(1, 1),
    **_each("matches matches_string", _matches),
    "contains_string": _contains_text,
    **_each("add_string add_bytes", _add),
    "add_list": _add_lists,
    **{
        f"{name}_{kind}": _shorter
        for name in ("less", "greater", "less_equals", "greater_equals")
        for kind in _TEXTS
    },
    **_each("equals not_equals", _shorter),
}


def estimate_call(
    function: str, overload: str, target: Operand | None, arguments: Sequence[Operand]
) -> Estimate:
    """Return what a call of an overload could cost, without its arguments."""
    tables = ((BY_OVERLOAD, overload), (BY_FUNCTION, function), (BY_STANDARD, overload))
    for table, name in tables:
        found = table[name](target, arguments) if name in table else None
        if found is not None:
            return found
    return Estimate(1)
