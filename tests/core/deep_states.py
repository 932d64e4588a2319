"""What an object and all that it refers to is, as digests that can be compared."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from hashlib import sha256
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

_ATOMS = (type(None), bool, int, float, str, bytes, type, FunctionType, BuiltinFunctionType, np.generic)
_DEPTH = 4

LeftOut = Mapping[str, Collection[str]]
"""Attributes that are not compared, by the name of their class."""


def differing_parts(one: object, other: object, left_out: LeftOut) -> list[str]:
    """Return the paths of the parts that differ between two objects, whatever the order in dicts."""
    known, seen = (dict(_Digests(left_out).parts("", each, _DEPTH)) for each in (one, other))
    return sorted(path for path in known | seen if known.get(path) != seen.get(path))


class _Digests:
    def __init__(self, left_out: LeftOut) -> None:
        self._left_out = left_out
        self._known: dict[int, str] = {}
        self._held: list[object] = []  # the identity of a freed object is used again

    def parts(self, path: str, value: Any, depth: int) -> Iterator[tuple[str, str]]:
        yield path, self._digest(value)
        if depth and not isinstance(value, _ATOMS):
            for name, one in self._inside(value):
                yield from self.parts(f"{path}/{name}", one, depth - 1)

    def _digest(self, value: Any) -> str:
        if isinstance(value, _ATOMS):
            return repr(value)
        if id(value) not in self._known:
            self._known[id(value)] = "^"  # what refers to itself
            self._held.append(value)
            inside = [f"{name}={self._digest(one)}" for name, one in self._inside(value)]
            if isinstance(value, set | frozenset | Mapping):
                inside.sort()
            text = f"{type(value).__name__}{inside}"
            self._known[id(value)] = sha256(text.encode()).hexdigest()[:16]
        return self._known[id(value)]

    def _inside(self, value: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(value, np.ndarray):
            yield "", str(value.tolist())
        elif isinstance(value, MethodType):
            yield value.__func__.__qualname__, value.__self__
        elif isinstance(value, Mapping):
            for key, one in value.items():
                yield self._digest(key), one
        elif isinstance(value, set | frozenset):
            yield from (("", one) for one in value)
        elif isinstance(value, list | tuple):
            yield from ((str(at), one) for at, one in enumerate(value))
        else:
            yield from self._attributes(value)

    def _attributes(self, value: Any) -> Iterator[tuple[str, Any]]:
        kind = type(value)
        names = [name for base in reversed(kind.__mro__) for name in getattr(base, "__slots__", ())]
        names += [*getattr(kind, "__struct_fields__", ()), *getattr(value, "__dict__", ())]
        ignored = {name for base in kind.__mro__ for name in self._left_out.get(base.__name__, ())}
        for name in sorted(dict.fromkeys(names)):
            if name not in ignored and hasattr(value, name):
                yield name, getattr(value, name)
