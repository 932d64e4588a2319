"""Values at run time, their types' names, and when two are equal or one is less.

Python's bool, int, float, str, bytes, list and None are themselves; what Python has not is a class here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from scheduler_core.schedulers.v1_37.cel.errors import CelError

NO_OVERLOAD = "no such overload"
MAX_STRING = 16 * 2**20
"""Characters of a string that an expression may build; cel-go's limit is the process's memory."""


def is_int(number: int) -> bool:
    """Return whether a number fits in a signed 64-bit integer."""
    return -(2**63) <= number < 2**63


def is_uint(number: int) -> bool:
    """Return whether a number fits in an unsigned 64-bit integer."""
    return 0 <= number < 2**64


class UInt(int):
    """An unsigned 64-bit integer."""

    __slots__ = ()


@dataclass(frozen=True)
class Duration:
    """A duration in nanoseconds."""

    nanoseconds: int


@dataclass(frozen=True)
class Timestamp:
    """Nanoseconds since 1970, and the offset in seconds that it was written with."""

    nanoseconds: int
    offset: int = 0


@dataclass(frozen=True)
class TypeValue:
    """A type as a value."""

    name: str


@dataclass(frozen=True)
class Optional:
    """A value that may be missing."""

    value: Any = None
    has_value: bool = False


NONE = Optional()


@dataclass(frozen=True)
class Quantity:
    """A Kubernetes quantity.

    ``scaled`` is the 64-bit number and the power of ten that it is held as, None if it is held as a decimal
    of any length. ``computed`` are those of ``add`` and ``sub``, which no other value equals.
    """

    amount: Fraction
    scaled: tuple[int, int] | None = None
    computed: bool = False


@dataclass(frozen=True)
class Semver:
    """A semantic version; ``pre`` has the identifiers of a pre-release."""

    numbers: tuple[int, int, int]
    pre: tuple[int | str, ...] = ()

    def rank(self) -> tuple[Any, ...]:
        """Return what versions are ordered by: a release after its pre-releases, numbers before words."""
        return (*self.numbers, not self.pre, [(isinstance(one, str), one) for one in self.pre])


class CelMap:
    """A map. ``missing`` is the value of each key that it does not have, if it has such a value."""

    __slots__ = ("_entries", "_missing")

    def __init__(self, entries: Iterable[tuple[Any, Any]] = (), missing: Any = None) -> None:
        self._entries = {_hashed(key): (key, value) for key, value in entries}
        self._missing = missing

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self._entries.values())

    def items(self) -> Iterable[tuple[Any, Any]]:
        """Return the entries."""
        return self._entries.values()

    def has(self, key: Any) -> bool:
        """Return whether it has a key itself."""
        return _hashed(key) in self._entries

    def find(self, key: Any) -> tuple[Any, bool]:
        """Return the value of a key, and whether there is one."""
        found = self._entries.get(_hashed(key))
        if found is not None:
            return found[1], True
        return self._missing, self._missing is not None

    def with_entry(self, key: Any, value: Any) -> CelMap:
        """Return it with a key that it must not have."""
        if self.has(key):
            raise CelError(f"insert failed: key {shown(key)} already exists")
        out = CelMap()
        out._entries = {**self._entries, _hashed(key): (key, value)}
        return out


class GrowingMap(CelMap):
    """The map that a comprehension collects: it grows in place, as only the comprehension has it."""

    __slots__ = ()

    def with_entry(self, key: Any, value: Any) -> CelMap:
        """Add a key that it must not have."""
        if self.has(key):
            raise CelError(f"insert failed: key {shown(key)} already exists")
        self._entries[_hashed(key)] = (key, value)
        return self


def _hashed(key: Any) -> Any:
    """Return what equal keys have in common: 1, 1u and 1.0 are one key, true is another."""
    if isinstance(key, bool | None | str | int | float):
        return (type(key).__name__, key) if isinstance(key, bool) else key
    return (type_name(key), repr(key))


_NAMES: dict[type, str] = {
    bool: "bool", int: "int", UInt: "uint", float: "double", str: "string", bytes: "bytes", list: "list",
    CelMap: "map", type(None): "null_type", Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp", TypeValue: "type", Optional: "optional_type",
    Quantity: "kubernetes.Quantity", Semver: "kubernetes.Semver", CelError: "error",
}  # fmt: skip


def register(kind: type, name: str) -> None:
    """Add a type of values."""
    _NAMES[kind] = name


def type_name(value: Any) -> str:
    """Return the name of a value's type."""
    return _NAMES.get(type(value)) or next(name for kind, name in _NAMES.items() if isinstance(value, kind))


_GO_TYPES = {
    "string": "types.String", "int": "types.Int", "uint": "types.Uint", "double": "types.Double",
    "bool": "types.Bool", "bytes": "types.Bytes", "null_type": "types.Null", "list": "*types.baseList",
    "map": "*types.baseMap", "error": "*types.Err", "optional_type": "*types.Optional",
    "kubernetes.Semver": "cel.Semver", "kubernetes.Quantity": "cel.Quantity",
}  # fmt: skip


def go_type(name: str) -> str:
    """Return the name that cel-go's own type of values has in errors."""
    return _GO_TYPES.get(name, name)


def is_number(value: Any) -> bool:
    """Return whether a value is an int, uint or double."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(one: Any, other: Any) -> bool | CelError:
    """Return whether two values are equal (types.Equal); an error where Kubernetes' types meet others."""
    if one is None or other is None:
        return one is None and other is None
    if is_number(one):
        return is_number(other) and bool(one == other)
    compare = _EQUALITIES.get(type(one))
    if compare is not None:
        return compare(one, other)
    if type(one) in _STRICT and type(one) is not type(other):
        return CelError(NO_OVERLOAD)
    return type(one) is type(other) and bool(one == other)


def _lists(one: Any, other: Any) -> bool:
    if not isinstance(other, list) or len(one) != len(other):
        return False
    return all(equal(mine, theirs) is not False for mine, theirs in zip(one, other))


def _maps(one: Any, other: Any) -> bool:
    if not isinstance(other, CelMap) or len(one) != len(other):
        return False
    pairs = ((value, other.find(key)) for key, value in one.items())
    return all(found and equal(value, theirs) is not False for value, (theirs, found) in pairs)


def _optionals(one: Any, other: Any) -> bool | CelError:
    if not isinstance(other, Optional) or one.has_value is not other.has_value:
        return False
    return not one.has_value or equal(one.value, other.value)


def _quantities(one: Any, other: Any) -> bool | CelError:
    if not isinstance(other, Quantity) or other.computed:
        return CelError(NO_OVERLOAD)
    return bool(one.amount == other.amount)


def _semvers(one: Any, other: Any) -> bool | CelError:
    return one.rank() == other.rank() if isinstance(other, Semver) else CelError(NO_OVERLOAD)


def _timestamps(one: Any, other: Any) -> bool:
    return isinstance(other, Timestamp) and one.nanoseconds == other.nanoseconds


_EQUALITIES: Mapping[type, Callable[[Any, Any], bool | CelError]] = {
    list: _lists,
    CelMap: _maps,
    Optional: _optionals,
    Quantity: _quantities,
    Semver: _semvers,
    Timestamp: _timestamps,
}
_STRICT: set[type] = set()
"""Types whose values cannot be compared with those of others."""


def register_strict(kind: type, name: str) -> None:
    """Add a type whose values equal nothing of another type: to compare them is an error."""
    register(kind, name)
    _STRICT.add(kind)


def order(one: Any, other: Any) -> int:
    """Return -1, 0 or 1 (traits.Comparer). Raises CelError if the two cannot be ordered."""
    if is_number(one) and is_number(other):
        if math.isnan(one) or math.isnan(other):
            raise CelError("NaN values cannot be ordered")
        return int(one > other) - int(one < other)
    if type(one) is not type(other) or type(one) not in _ORDERED:
        raise CelError(NO_OVERLOAD)
    if isinstance(one, str):
        one, other = one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass")
    elif isinstance(one, Duration | Timestamp):
        one, other = one.nanoseconds, other.nanoseconds
    return int(one > other) - int(one < other)


_ORDERED = (bool, str, bytes, Duration, Timestamp)


def can_order(value: Any) -> bool:
    """Return whether values of this type have an order."""
    return is_number(value) or type(value) in _ORDERED


def is_zero(value: Any) -> bool:
    """Return whether a value is the empty one of its type (traits.Zeroer)."""
    if isinstance(value, Duration):
        return value.nanoseconds == 0
    if isinstance(value, bool | int | float | str | bytes | list | CelMap | None):
        return not value
    return False


def size(value: Any) -> int:
    """Return the size that costs count: of strings, bytes and collections their lengths, else 1."""
    if isinstance(value, str | bytes | list | CelMap):
        return len(value)
    if isinstance(value, Optional) and value.has_value:
        return size(value.value)
    return int(getattr(value, "size", 1))


def shown(value: Any) -> str:
    """Return a value as errors show it (Go's %v)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return go_float(value)
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    if value is None:
        return "null"
    return str(value)


def go_float(value: float, exponent_from: int = 6) -> str:
    """Return a double as Go's %g or %v writes it: the shortest digits, an exponent of two digits or more."""
    if math.isinf(value) or math.isnan(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    digits, _, power = repr_exponent(value)
    if int(power) < -4 or int(power) >= exponent_from:
        return f"{digits}e{int(power):+03d}"
    return plain(value)


def repr_exponent(value: float) -> tuple[str, str, str]:
    """Return the shortest digits of a double and its decimal exponent, as ``1.5``, ``e`` and ``10``."""
    for places in range(18):
        text = f"{value:.{places}e}"
        if float(text) == value:
            return text.partition("e")
    return f"{value:.17e}".partition("e")


def plain(value: float) -> str:
    """Return a double without an exponent."""
    digits, _, power = repr_exponent(value)
    places = max(len(digits.partition(".")[2]) - int(power), 0)
    return f"{value:.{places}f}"


def text_limited(text: str) -> str:
    """Return a text, unless it is longer than a simulation should hold."""
    if len(text) > MAX_STRING:
        raise CelError(f"a string of more than {MAX_STRING} characters is not supported")
    return text
