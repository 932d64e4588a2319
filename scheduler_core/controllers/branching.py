"""A copy of mutable state that shares the immutable objects: what a checkpoint keeps."""

from __future__ import annotations

from collections import deque
from typing import Any, TypeVar

State = TypeVar("State")


def branch(state: State) -> State:
    """Return a copy that changes apart from the original.

    Containers, and objects of classes of this package that are not frozen, are copied all the way down;
    everything else is immutable and shared.
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
    """Marks the classes whose objects :func:`branch` copies."""

    __slots__ = ()
