"""Whether a type can be used for another; parameters get their types on the way (checker/types.go)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_core.schedulers.v1_37.cel.types import DYN, Type

_NULLABLE = ("opaque", "struct", "any", "duration", "timestamp", "null")
_NESTED = ("opaque", "list", "map", "type")


class Bindings(dict[Type, Type]):
    """The types that type parameters have got."""

    def __init__(self, given: Mapping[Type, Type] | None = None) -> None:
        super().__init__(given or {})
        self._replaced: list[tuple[Type, Type | None]] = []

    def substitute(self, kind: Type, *, free: Type | None = None) -> Type:
        """Return a type with its parameters replaced; ``free`` is what one without a type becomes."""
        if kind.kind == "param":
            found = self._end(kind)
            return (free or found) if found.kind == "param" else self.substitute(found, free=free)
        if not kind.parameters:
            return kind
        return kind._replace(parameters=tuple(self.substitute(one, free=free) for one in kind.parameters))

    def _end(self, parameter: Type) -> Type:
        """Return what a chain of parameters ends in, and shorten the chain."""
        passed = []
        while (found := self.get(parameter)) is not None:
            passed.append(parameter)
            parameter = found
        for one in passed:
            self[one] = parameter
        return parameter

    def resolved(self, kind: Type) -> Type:
        """Return a type in which parameters without a type are dynamic."""
        return self.substitute(kind, free=DYN)

    def admits(self, wanted: Sequence[Type], given: Sequence[Type]) -> bool:
        """Return whether types can be used for others, one by one; if so, keep the parameters' types."""
        self._replaced = []
        if self._all(wanted, given):
            return True
        for parameter, known in reversed(self._replaced):
            if known is None:
                del self[parameter]
            else:
                self[parameter] = known
        return False

    def _set(self, parameter: Type, kind: Type) -> None:
        self._replaced.append((parameter, self.get(parameter)))
        self[parameter] = kind

    def _admits(self, one: Type, other: Type) -> bool:
        if other.kind == "param":
            valid, known = self._bind(one, other)
            if valid or known:
                return valid
        if one.kind == "param":
            return self._bind(other, one)[0]
        if one.is_dynamic or other.is_dynamic or "error" in (one.kind, other.kind):
            return True
        if "null" in (one.kind, other.kind):
            return (other if one.kind == "null" else one).kind in _NULLABLE
        if one.kind == "type":
            return other.kind == "type"
        if one.kind in _NESTED:
            return one[:2] == other[:2] and self._all(one.parameters, other.parameters)
        return one == other

    def _all(self, ones: Sequence[Type], others: Sequence[Type]) -> bool:
        return len(ones) == len(others) and all(self._admits(*pair) for pair in zip(ones, others))

    def _bind(self, kind: Type, parameter: Type) -> tuple[bool, bool]:
        """Give a parameter a type; return whether that is possible, and whether it had one."""
        if kind == parameter:
            return True, True
        known = self.get(parameter)
        if known is None:
            if not self._free_of(parameter, kind):
                return False, False
            self._set(parameter, kind)
            return True, False
        if kind == known:
            return True, True
        if not self._admits(kind, known):
            return False, True
        general = most_general(kind, known)
        if self._free_of(parameter, general):
            self._set(parameter, general)
        return True, True

    def _free_of(self, parameter: Type, kind: Type) -> bool:
        """Return whether a parameter does not occur in a type."""
        if kind == parameter:
            return False
        if kind.kind == "param":
            known = self.get(kind)
            return known is None or self._free_of(parameter, known)
        return all(self._free_of(parameter, one) for one in kind.parameters)


def most_general(one: Type, other: Type) -> Type:
    """Return the less specific one."""
    return one if _is_less_specific(one, other) else other


def _is_less_specific(one: Type, other: Type) -> bool:
    """Return whether a type is equal to another, or less specific."""
    if one.is_dynamic or one.kind == "param":
        return True
    if other.is_dynamic or other.kind == "param" or one[:2] != other[:2]:
        return False
    if one.kind == "type":
        return True
    pairs = zip(one.parameters, other.parameters)
    return len(one.parameters) == len(other.parameters) and all(_is_less_specific(*pair) for pair in pairs)
