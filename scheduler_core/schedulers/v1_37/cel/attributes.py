"""Values reached from variables and results by fields and indexes (cel-go's interpreter/attributes.go)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.schedulers.v1_37.cel.costs import CostTracker
from scheduler_core.schedulers.v1_37.cel.errors import CelError
from scheduler_core.schedulers.v1_37.cel.functions.optionals import some
from scheduler_core.schedulers.v1_37.cel.values import (
    NONE,
    CelMap,
    Optional,
    go_type,
    is_int,
    shown,
    type_name,
)


class Activation:
    """Names in an evaluation, with those around them."""

    __slots__ = ("meter", "names", "parent")

    def __init__(self, names: dict[str, Any], meter: CostTracker, parent: Activation | None = None) -> None:
        self.names = names
        self.meter = meter
        self.parent = parent

    def find(self, name: str) -> Any:
        """Return the value of a name; a binding gets its value when it is first asked for."""
        scope: Activation | None = self
        while scope is not None:
            if name in scope.names:
                value = scope.names[name]
                if isinstance(value, Delayed):
                    value = scope.names[name] = value.run(value.scope)
                return value
            scope = scope.parent
        return CelError(f"no such attribute(s): {name}")


@dataclass(frozen=True)
class Delayed:
    """The value of a binding, not evaluated yet."""

    run: Step
    scope: Activation


Step = Callable[[Activation], Any]
"""Evaluates a part of an expression; an error is a result like others."""


@dataclass
class Qualifier:
    """A field or an index. ``key`` gives it; a ``test`` asks for its presence alone."""

    key: Step
    optional: bool = False
    test: bool = False

    def get(self, scope: Activation, owner: Any) -> Any:
        """Return the value in its owner, or an error."""
        key = self.key(scope)
        found = key if isinstance(key, CelError) else _access(owner, key, presence=self.test)
        scope.meter.charge(1)
        if isinstance(found, CelError):
            return found
        return found[1] if self.test else found[0]

    def find(self, scope: Activation, owner: Any) -> tuple[Any, bool] | CelError:
        """Return the value and whether there is one, or an error. What is missing costs nothing."""
        key = self.key(scope)
        found = key if isinstance(key, CelError) else _access(owner, key, presence=True)
        if not isinstance(found, CelError) and found[1]:
            scope.meter.charge(1)
        return found


def _access(owner: Any, key: Any, *, presence: bool) -> tuple[Any, bool] | CelError:
    """Return the value of a key (refQualify)."""
    if not isinstance(key, str | int | float):
        return CelError(f"invalid qualifier type: {go_type(type_name(key))}")
    if isinstance(owner, CelMap):
        value, found = owner.find(key)
        return (value, found) if found or presence else CelError(f"no such key: {shown(key)}")
    if isinstance(owner, list):
        return _element(owner, key, presence=presence)
    return (None, False) if presence else CelError(f"no such key: {shown(key)}")


def _element(owner: list[Any], key: Any, *, presence: bool) -> tuple[Any, bool] | CelError:
    if isinstance(key, bool) or not isinstance(key, int | float):
        return CelError(f"unsupported index type '{type_name(key)}' in list")
    if key != key or key in (float("inf"), float("-inf")) or int(key) != key or not is_int(int(key)):  # noqa: PLR0124
        return CelError(f"unsupported index value {shown(key)} in list")
    if 0 <= key < len(owner):
        return owner[int(key)], True
    return (None, False) if presence else CelError(f"index out of bounds: {shown(key)}")


@dataclass
class Attribute:
    """A value and the qualifiers on it. A ``free`` one costs nothing itself."""

    base: Step
    qualifiers: list[Qualifier] = field(default_factory=list)
    free: bool = False

    def resolve(self, scope: Activation) -> Any:
        """Return the value, an optional one if a qualifier is optional, or an error."""
        value = self.base(scope)
        if isinstance(value, CelError) or not self.qualifiers:
            return value
        optional = isinstance(value, Optional)
        if optional:
            if not value.has_value:
                return value
            value = value.value
        for qualifier in self.qualifiers:
            optional = optional or qualifier.optional
            value = _optional_step(qualifier, scope, value) if optional else qualifier.get(scope, value)
            if isinstance(value, CelError) or (value is NONE and optional):
                return value
        return some(value) if optional else value


def _optional_step(qualifier: Qualifier, scope: Activation, owner: Any) -> Any:
    found = qualifier.find(scope, owner)
    if isinstance(found, CelError):
        return found
    return found[0] if found[1] else NONE
