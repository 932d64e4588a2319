"""Copies of mutable state that share the immutable objects, as kept in a checkpoint."""

from __future__ import annotations

from collections import deque
from typing import Any, TypeVar

State = TypeVar("State")


def branch(state: State) -> State:
    """Return a copy that is independent of the original.

    Containers and objects of :class:`Branching` classes are copied recursively; everything else is immutable
    and shared.
    """
    return _copied(state)  # type: ignore[no-any-return]


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        return {key: _copied(part) for key, part in value.items()}
    if kind is list or kind is deque:
        return kind(map(_copied, value))
    if kind is set:
        return set(value)
    if isinstance(value, Branching):
        made = object.__new__(kind)
        names = getattr(kind, "__slots__", None) or vars(value)
        for name in names:
            setattr(made, name, _copied(getattr(value, name)))
        return made
    return value


class Branching:
    """Marks classes whose instances :func:`branch` copies."""

    __slots__ = ()
