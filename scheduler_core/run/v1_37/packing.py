"""A run as bytes, which a process of the same code continues without replaying its decisions.

What the scenario has is referred to by its place there, and is not part of the bytes. They are pickled: read
only what a process of one's own wrote.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, NoReturn

from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.columns.reads import POD_FIELDS
from scheduler_core.schedulers.extenders.asking import Asking
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration


def pack(
    run: object,
    scenario: Scenario,
    configuration: Configuration,
    compiled: CompiledConfiguration,
    asking: Asking,
) -> bytes:
    """Return a run between two cycles; ``configuration`` is the scenario's that it has now."""
    out = io.BytesIO()
    number = next(n for n, one in enumerate(scenario.configurations) if one is configuration)
    pickle.dump(number, out)
    _Pickler(out, tuple(_shared(scenario, compiled, asking))).dump(run)
    return out.getvalue()


def unpack(
    data: bytes,
    scenario: Scenario,
    compile_: Callable[[Configuration], CompiledConfiguration],
    asking: Asking,
) -> Any:
    """Return the run. ``scenario`` is equal to the one that it was packed with."""
    source = io.BytesIO(data)
    number = pickle.load(source)  # noqa: S301 - written by a process of one's own
    compiled = compile_(scenario.configurations[number])
    return _Unpickler(source, tuple(_shared(scenario, compiled, asking))).load()


def _shared(scenario: Scenario, compiled: CompiledConfiguration, asking: Asking) -> Iterator[object]:
    """Yield what is referred to, in an order that the scenario alone determines."""
    yield from (scenario, compiled, asking)
    yield from compiled.profiles.values()
    yield from scenario.configurations
    yield from scenario.operations
    yield from (field.key for field in POD_FIELDS.values())
    for obj in chain(scenario.objects, (operation.object for operation in scenario.operations)):
        yield from _parts(obj)


def _parts(obj: KubernetesObject | None) -> Iterator[object]:
    if obj is not None:
        yield from (obj, obj.meta, obj.meta.written)


class _Pickler(pickle.Pickler):
    def __init__(self, out: io.BytesIO, shared: Sequence[object]) -> None:
        super().__init__(out, pickle.HIGHEST_PROTOCOL)
        self._shared = shared  # kept, so that no identity is used again
        self._places = {id(one): place for place, one in enumerate(shared) if one is not None}

    def reducer_override(self, obj: Any) -> Any:
        place = self._places.get(id(obj))
        return NotImplemented if place is None else (_at, (place,))


class _Unpickler(pickle.Unpickler):
    def __init__(self, source: io.BytesIO, shared: Sequence[object]) -> None:
        super().__init__(source)
        self._at = shared.__getitem__

    def find_class(self, module: str, name: str) -> Any:
        return self._at if (module, name) == (__name__, _at.__name__) else super().find_class(module, name)


def _at(place: int) -> NoReturn:
    """Stand for an object that the scenario has; the unpickler replaces this function."""
    raise AssertionError(place)
