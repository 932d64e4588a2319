"""Copies of mutable state that are as cheap as they can be: what nothing changes is shared.

``copy.deepcopy`` visits each element of a container, and a run has a hundred thousand. A :class:`Forkable`
class says of its large containers how they are copied. :func:`copied` copies everything else as
``copy.deepcopy`` does, which it leaves what is rare to.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy, deepcopy
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, ClassVar, Self

from msgspec import Struct
from msgspec.structs import force_setattr

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
    return {key: one.copy() if one.__class__ is dict else copy(one) for key, one in value.items()}


def keyed(value: Mapping[Any, Any], memo: Memo) -> dict[Any, Any]:
    """Copy a dict with its values; its keys never change."""
    return {key: copied(one, memo) for key, one in value.items()}


def emptied(value: Any, memo: Memo) -> Any:
    """Return an empty container in place of one whose elements can be computed again."""
    del memo
    return type(value)()


def dropped(value: Any, memo: Memo) -> None:
    """Leave out what is made again when it is asked for."""
    del value, memo


def copied(value: Any, memo: Memo) -> Any:
    """Return an independent copy, that which ``memo`` has of the same value if there is one."""
    kind = value.__class__
    if kind in _ATOMS:
        return value
    found = memo.get(id(value))
    if found is None:
        found = (_COPIERS.get(kind) or _copier_of(kind))(value, memo)
        memo[id(value)] = found
    return found


def _copied_dict(value: dict[Any, Any], memo: Memo) -> dict[Any, Any]:
    if not value:
        return {}
    if _are_atoms(value) and _are_atoms(value.values()):
        return value.copy()
    made: dict[Any, Any] = {}
    memo[id(value)] = made
    for key, one in value.items():
        made[copied(key, memo)] = copied(one, memo)
    return made


def _are_atoms(values: Iterable[Any]) -> bool:
    """Return whether nothing changes any of some values."""
    return _ATOMS.issuperset(map(type, values))


def _copied_list(value: list[Any], memo: Memo) -> list[Any]:
    if not value:
        return []
    if _are_atoms(value):
        return value.copy()
    made: list[Any] = []
    memo[id(value)] = made
    made.extend(copied(one, memo) for one in value)
    return made


def _copied_tuple(value: tuple[Any, ...], memo: Memo) -> tuple[Any, ...]:
    if _are_atoms(value):
        return value
    made = [copied(one, memo) for one in value]
    return value if all(map(_is_same, made, value)) else tuple(made)


def _is_same(one: object, other: object) -> bool:
    return one is other


def _copied_set(value: set[Any], memo: Memo) -> set[Any]:
    return value.copy() if not value or _are_atoms(value) else {copied(one, memo) for one in value}


def _copied_frozenset(value: frozenset[Any], memo: Memo) -> frozenset[Any]:
    return value if _are_atoms(value) else frozenset(copied(one, memo) for one in value)


def _copied_method(value: MethodType, memo: Memo) -> MethodType:
    return MethodType(value.__func__, copied(value.__self__, memo))


def _copied_instance(value: Any, memo: Memo) -> Any:
    made = memo[id(value)] = object.__new__(type(value))
    into = vars(made)
    for name, one in vars(value).items():
        into[name] = one if one.__class__ in _ATOMS else copied(one, memo)
    return made


def _copied_slots(names: Sequence[str], value: Any, memo: Memo) -> Any:
    made = memo[id(value)] = object.__new__(type(value))
    for name in names:
        if hasattr(value, name):
            object.__setattr__(made, name, copied(getattr(value, name), memo))
    return made


def _copied_struct(value: Struct, memo: Memo) -> Struct:
    made = memo[id(value)] = copy(value)
    for name in value.__struct_fields__:
        force_setattr(made, name, copied(getattr(value, name), memo))
    return made


def _copied_row(value: Any, memo: Memo) -> Any:
    return type(value)._make(copied(one, memo) for one in value)


def _copied_deque(value: deque[Any], memo: Memo) -> deque[Any]:
    return deque((copied(one, memo) for one in value), value.maxlen)


def _copied_counter(value: Counter[Any], memo: Memo) -> Counter[Any]:
    return Counter(_copied_dict(value, memo))


def _copied_by_itself(value: Any, memo: Memo) -> Any:
    return value.__deepcopy__(memo)


_ATOMS = frozenset(
    {type(None), bool, int, float, str, bytes, type, FunctionType, BuiltinFunctionType, type(Ellipsis)}
)
_COPIERS: dict[type, Copier] = {
    dict: _copied_dict,
    list: _copied_list,
    tuple: _copied_tuple,
    set: _copied_set,
    frozenset: _copied_frozenset,
    deque: _copied_deque,
    Counter: _copied_counter,
    MethodType: _copied_method,
}
_SEQUENCES = frozenset({list, tuple, set, frozenset, deque})
_PLAIN = ("__reduce__", "__reduce_ex__", "__getstate__")
"""What decides how ``copy.deepcopy`` copies an instance, unless they are those of ``object``."""


def _copier_of(kind: type) -> Copier:
    """Return how instances of a class are copied, and remember it."""
    if hasattr(kind, "__deepcopy__"):
        made: Copier = _copied_by_itself
    elif issubclass(kind, Struct):
        made = _copied_struct
    elif issubclass(kind, tuple) and hasattr(kind, "_make"):
        made = _copied_row
    else:
        made = _copier_of_state(kind)
    return _COPIERS.setdefault(kind, made)


def _copier_of_state(kind: type) -> Copier:
    """Return how instances are copied whose state is in their ``__dict__`` or ``__slots__``, if it is."""
    bases = [base for base in kind.__mro__ if base is not object]
    own = all(getattr(kind, name, None) is getattr(object, name, None) for name in _PLAIN)
    if not own or not all(base.__flags__ & _HEAP_TYPE for base in bases):
        return deepcopy
    listed = (vars(base).get("__slots__", ()) for base in bases)
    names = [name for slots in listed for name in ((slots,) if isinstance(slots, str) else slots)]
    if kind.__dictoffset__:
        return deepcopy if names else _copied_instance
    return partial(_copied_slots, names)


_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a class that Python code defines


class Forkable:
    """An object that :func:`copy.deepcopy` copies by the rules in ``FORKED``, which subclasses add to.

    An attribute without a rule is :func:`copied`.
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
        into = vars(made)
        for name, value in vars(self).items():
            rule = rules.get(name)
            if value.__class__ in _ATOMS:
                into[name] = value
            elif rule is None:
                into[name] = copied(value, memo)
            elif (known := memo.get(id(value))) is not None:
                into[name] = known
            else:
                made_of_it = value.copy() if rule is flat else rule(value, memo)
                into[name] = memo[id(value)] = made_of_it
        return made


def released(run: object, shared: Iterable[object]) -> None:
    """Empty the objects that a copy of a run would have of its own, so that all they hold is freed at once.

    They refer to each other: without this they wait for a garbage collection. Nothing of the run can be used
    afterwards but what it ``shared`` with its copies.
    """
    seen = set(map(id, shared))
    left: list[Any] = [run]
    emptied: list[dict[str, Any]] = []
    while left:
        one = left.pop()
        kind = one.__class__
        if kind in _ATOMS or id(one) in seen:
            continue
        seen.add(id(one))
        if kind is dict:
            left += one.values()
        elif kind in _SEQUENCES:
            left += one
        elif kind is MethodType:
            left.append(one.__self__)
        elif kind is partial:
            left += (one.func, *one.args)
        elif isinstance(one, Forkable) or (_COPIERS.get(kind) or _copier_of(kind)) is _copied_instance:
            own = vars(one)
            rules = getattr(kind, "FORKED", {})  # of containers, of which a copy shares the elements
            left += (value for name, value in own.items() if name not in rules)
            emptied.append(own)
    for own in emptied:
        own.clear()
