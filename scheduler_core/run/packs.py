"""A run as bytes, which a process of the same code continues without replaying its decisions.

What the scenario has, what its configurations compile to, and the constants of the engine's modules are
referred to by their places there and are not part of the bytes: some are compared by identity, others are
functions without a name. The rest is pickled: read only what a process of one's own wrote.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import lru_cache, partial
from importlib import import_module
from itertools import chain
from types import FunctionType, ModuleType
from typing import Any, NoReturn

from msgspec import Struct

from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.run.loop import Stepper
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.extenders.answer_sources import Asking
from scheduler_core.schedulers.extenders.approval import transport

PACKAGE = "scheduler_core."
_ATOMS = (type(None), bool, int, float, str, bytes, type, ModuleType)

Step = tuple[str, Hashable]
"""From an object to one in it: ``(".", attribute)`` or ``("[", key or index)``."""
Path = tuple[str, Hashable, tuple[Step, ...]]
"""``(module, name, steps)`` of a constant; ``("", number, steps)`` of what the scenario has."""
Places = dict[int, tuple[object, Path]]
"""Objects with their paths, by identity. They are held: the identity of a freed object is used again."""


def pack(run: Stepper) -> bytes | None:
    """Return a run between two cycles as bytes, ``None`` while a part of it cannot be stored."""
    return Packer(run.scenario).pack(run)


class Packer:
    """Packs runs of one scenario; what it has is looked for once for all of them."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._kept = list(_shared(scenario))  # so that no identity is used again
        self._numbers = {id(one): number for number, one in enumerate(self._kept) if one is not None}
        self._kinds = set(map(type, self._kept))

    def pack(self, run: Stepper) -> bytes | None:
        """Return a run between two cycles as bytes, ``None`` while a part of it cannot be stored."""
        out = io.BytesIO()
        try:
            _Pickler(out, self._scenario, self._numbers, self._kinds).dump(run)
        except (AttributeError, TypeError, pickle.PicklingError):  # a function that waits for its moment
            return None
        return out.getvalue()


def unpack(data: bytes, scenario: Scenario) -> Stepper:
    """Return the run. ``scenario`` is equal to the one that it was packed with."""
    return Unpacker(scenario).unpack(data)


class Unpacker:
    """Unpacks runs of one scenario; what depends on the scenario alone is made once for all of them."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._shared = list(_shared(scenario))
        self._made: dict[type, Any] = {}

    def unpack(self, data: bytes) -> Stepper:
        """Return the run. The scenario is equal to the one that it was packed with."""
        unpickler = _Unpickler(io.BytesIO(data), self._scenario, self._shared, self._made)
        run: Stepper = unpickler.load()
        unpickler.end()
        return run


def _shared(scenario: Scenario) -> Iterator[object]:
    """Yield what a run refers to in its scenario, in an order that the scenario alone determines."""
    yield scenario
    yield from scenario.configurations
    yield from scenario.operations
    for obj in chain(scenario.objects, (operation.object for operation in scenario.operations)):
        yield from _parts(obj)


def _parts(obj: KubernetesObject | None) -> Iterator[object]:
    if obj is not None:
        yield from (obj, obj.meta, obj.meta.written)


class _Pickler(pickle.Pickler):
    def __init__(
        self, out: io.BytesIO, scenario: Scenario, numbers: Mapping[int, int], kinds: set[type]
    ) -> None:
        super().__init__(out, pickle.HIGHEST_PROTOCOL)
        self._numbers = numbers
        self._constants = _constants(sum(name.startswith(PACKAGE) for name in sys.modules))
        self._compiled: Places = {
            id(one): (one, ("", number, (_COMPILED, *steps)))
            for number, configuration in enumerate(scenario.configurations, 1)
            if _COMPILED[1] in vars(configuration)
            for steps, one in _walk(getattr(configuration, _COMPILED[1]))
        }
        places = (*self._constants.values(), *self._compiled.values())
        self._kinds = {Asking, *kinds, *(type(one) for one, _ in places)}

    def reducer_override(self, obj: Any) -> Any:
        if type(obj) not in self._kinds:  # of most objects
            return NotImplemented
        if isinstance(obj, Asking):
            return _asked, obj.state
        number = self._numbers.get(id(obj))
        if number is not None:
            return _at, (number,)
        place = self._compiled.get(id(obj)) or self._constants.get(id(obj))
        return NotImplemented if place is None else (_along, place[1])


class _Unpickler(pickle.Unpickler):
    def __init__(
        self, source: io.BytesIO, scenario: Scenario, shared: list[object], made: dict[type, Any]
    ) -> None:
        super().__init__(source)
        self._shared = shared
        self._made = made
        self._scenario = scenario
        self._own: dict[str, Callable[..., Any]] = {
            _at.__name__: shared.__getitem__,
            _along.__name__: self._found,
            _asked.__name__: self._asking,
        }

    def end(self) -> None:
        """Refer to itself no longer, so that nothing but the run's reader keeps what was unpacked."""
        self._own.clear()
        self.memo.clear()

    def find_class(self, module: str, name: str) -> Any:
        if module == __name__:
            return self._own[name]
        found = super().find_class(module, name)
        return partial(self._once, found) if getattr(found, "OF_SCENARIO", False) else found

    def _once(self, kind: type, scenario: Scenario) -> Any:
        """Return what a class makes of the scenario, the same for all runs."""
        if scenario is not self._scenario:
            return kind(scenario)
        if kind not in self._made:
            self._made[kind] = kind(scenario)
        return self._made[kind]

    def _found(self, module: str, name: Any, steps: tuple[Step, ...]) -> Any:
        found = getattr(import_module(module), name) if module else self._shared[name]
        for kind, key in steps:
            found = getattr(found, str(key)) if kind == "." else found[key]
        return found

    def _asking(self, calls: bool, seconds: float, replies: Any) -> Asking:
        port, scenario = transport() if calls else None, self._scenario
        made = Asking(scenario.answers, port, lambda: scenario.id)
        made.resume(seconds, replies)
        return made


def _at(number: int) -> NoReturn:
    """Stand for an object that the scenario has; the unpickler replaces this function, and the next two."""
    raise AssertionError(number)


def _along(module: str, name: Hashable, steps: tuple[Step, ...]) -> NoReturn:
    """Stand for a constant, or for a part of what a configuration compiles to."""
    raise AssertionError(module, name, steps)


def _asked(calls: object, seconds: float, replies: object) -> NoReturn:
    """Stand for the port to the run's extenders, with what they have answered."""
    raise AssertionError(calls, seconds, replies)


_COMPILED: Step = (".", "compiled")


@lru_cache(maxsize=1)
def _constants(modules: int) -> Places:
    """Return what the constants of the engine's modules hold, with its paths."""
    del modules  # another number: more were imported
    found: Places = {}
    for module in [name for name in sys.modules if name.startswith(PACKAGE)]:
        for name, value in vars(sys.modules[module]).items():
            if name.strip("_").isupper():
                for steps, one in _walk(value):
                    found.setdefault(id(one), (one, (module, name, steps)))
    return found


def _walk(root: Any) -> Iterator[tuple[tuple[Step, ...], Any]]:
    """Yield an object and all in it that a run may refer to, with their paths."""
    seen = {id(root)}
    left: list[tuple[tuple[Step, ...], Any]] = [((), root)]
    while left:
        steps, obj = left.pop()
        if isinstance(obj, _ATOMS) or _is_named(obj):
            continue
        yield steps, obj
        for step, one in _inside(obj):
            if id(one) not in seen:
                seen.add(id(one))
                left.append(((*steps, step), one))


def _is_named(obj: Any) -> bool:
    return isinstance(obj, FunctionType) and "<" not in obj.__qualname__


def _inside(obj: Any) -> Iterator[tuple[Step, Any]]:
    if isinstance(obj, Mapping):
        for key, one in obj.items():
            if isinstance(key, str | int):
                yield ("[", key), one
    elif isinstance(obj, tuple | list):
        for place, one in enumerate(obj):
            yield ("[", place), one
    else:
        names = obj.__struct_fields__ if isinstance(obj, Struct) else ()
        for name in (*names, *getattr(obj, "__dict__", ())):
            yield (".", name), getattr(obj, name, None)
