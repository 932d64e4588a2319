"""Copies of mutable state that are as cheap as they can be: what nothing changes is shared.

``copy.deepcopy`` visits each element of a container, and a run has a hundred thousand. A :class:`Forkable`
class says of its large containers how they are copied; everything else is left to ``copy.deepcopy``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from typing import Any, ClassVar, Self

Memo = dict[int, Any]
Copier = Callable[[Any, Memo], Any]


def same(value: Any, memo: Memo) -> Any:
    """Share a value that nothing changes."""
    del memo
    return value


def flat(value: Any, memo: Memo) -> Any:
    """Copy a container whose elements nothing changes."""
    del memo
    return value.copy()


def nested(value: Any, memo: Memo) -> Any:
    """Copy a dict or a list and what it holds, of which nothing changes the elements."""
    del memo
    if isinstance(value, list):
        return list(map(copy, value))
    return {key: copy(one) for key, one in value.items()}


def keyed(value: Mapping[Any, Any], memo: Memo) -> dict[Any, Any]:
    """Copy a dict with its values; its keys never change."""
    return {key: deepcopy(one, memo) for key, one in value.items()}


def emptied(value: Any, memo: Memo) -> Any:
    """Return an empty container in place of one whose elements can be computed again."""
    del memo
    return type(value)()


class Forkable:
    """An object that :func:`copy.deepcopy` copies by the rules in ``FORKED``, which subclasses add to.

    An attribute without a rule is copied by ``copy.deepcopy``.
    """

    FORKED: ClassVar[Mapping[str, Copier]] = {}

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        cls.FORKED = {
            name: rule
            for base in reversed(cls.__mro__)
            for name, rule in vars(base).get("FORKED", {}).items()
        }

    def __deepcopy__(self, memo: Memo) -> Self:
        made = memo[id(self)] = object.__new__(type(self))
        rules = self.FORKED
        for name, value in vars(self).items():
            rule = rules.get(name)
            if rule is None:
                vars(made)[name] = deepcopy(value, memo)
            elif (known := memo.get(id(value))) is not None:
                vars(made)[name] = known
            else:
                vars(made)[name] = memo[id(value)] = rule(value, memo)
        return made
