"""Copies of a run's state: independent, with the same sharing within them, as copy.deepcopy makes them."""

from __future__ import annotations

import gc
import weakref
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from msgspec import Struct

from scheduler_core.forks import Copier, Forkable, copied, flat, released


class Plain:
    """An object with a dict, which knows itself and a method of its own."""

    def __init__(self) -> None:
        self.itself, self.numbers = self, [1]
        self.parts: dict[str, Any] = {}
        self.act: Callable[[], list[int]] = self.listed

    def listed(self) -> list[int]:
        return self.numbers


@dataclass(slots=True)
class Slotted:
    """An object with slots, one of which is unset."""

    numbers: list[int]
    unset: int = field(init=False)


class Frozen(Struct, frozen=True):
    """A record that cannot be assigned to."""

    numbers: list[int]


class Row(NamedTuple):
    """A row of a list."""

    numbers: list[int]


KINDS: dict[str, Callable[[list[int]], Any]] = {
    "dict": lambda numbers: {"a": numbers},
    "list": lambda numbers: [numbers],
    "tuple": lambda numbers: (1, numbers),
    "deque": lambda numbers: deque([numbers], 3),
    "slots": Slotted,
    "struct": Frozen,
    "row": Row,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_shares_within_itself_alone(kind: str) -> None:
    """What two parts of the original share two parts of its copy share, and nothing of the original."""
    numbers = [1]
    one, shared = copied((KINDS[kind](numbers), numbers), {})
    shared.append(2)
    assert str(one) == str(KINDS[kind]([1, 2])) if kind != "slots" else one.numbers == [1, 2]
    assert numbers == [1]


def test_a_copied_object_has_its_own_methods() -> None:
    """A method that an object keeps is that of the copy, also if the object is reached through it."""
    plain = Plain()
    other = copied(plain, {})
    assert other.itself is other
    assert other.act() is other.numbers is not plain.numbers
    assert copied([plain.act], {})[0]().append(3) is None
    assert plain.numbers == [1]


def test_what_nothing_changes_is_shared() -> None:
    """Tuples of atoms, functions and what the caller says are the same in the copy; arrays are not."""
    known, array = [1], np.zeros(2)
    made = copied({"a": (1, "b"), "f": len, "k": known, "n": array, "c": Counter("aab")}, {id(known): known})
    assert made["k"] is known
    assert made["f"] is len
    assert made["c"] == Counter("aab")
    made["n"][0] = 1
    assert array.sum() == 0


class Held:
    """What a container of a run holds."""


class Part(Forkable):
    """A part of a run, which the run knows and which knows the run."""

    FORKED: ClassVar[Mapping[str, Copier]] = {"large": flat}

    def __init__(self, run: Plain, settings: Plain) -> None:
        self.run, self.settings, self.large = run, settings, {1: Held()}


def test_what_is_released_waits_for_no_collection() -> None:
    """A run whose parts refer to each other is freed at once; what it shares stays, and so does a copy."""
    run, settings = Plain(), Plain()
    run.parts = {"a": (partial(print, Part(run, settings)),)}
    other = copied(run, {id(settings): settings})
    held = weakref.ref(run.parts["a"][0].args[0].large[1])
    freed = weakref.ref(run), weakref.ref(run.parts["a"][0].args[0])
    gc.disable()
    try:
        released(run, [settings])
        del run
        assert [one() for one in freed] == [None, None]
    finally:
        gc.enable()
    assert settings.act() == [1]
    [kept] = other.parts["a"]
    assert kept.args[0].run is other
    assert kept.args[0].large[1] is held()
