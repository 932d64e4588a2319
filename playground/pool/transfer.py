"""Transfer of a scenario from the process that read it: pickled in parts, unpickled in short slices.

Unpickling takes a tenth of the time of reading. In one piece it would still hold the GIL for hundreds of
milliseconds.
"""

from __future__ import annotations

import io
import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from scheduler_core.kubernetes.model import KubernetesObject, Pod, WrittenManifest
from scheduler_core.kubernetes.replicas import with_replicas_of_any
from scheduler_core.scenario.scenario import Scenario

PART = 200  # items, unpickled in a few milliseconds
WORK_SECONDS = 0.01  # between two pauses
PAUSE_SECONDS = 0.002  # during which other threads can run
FIELDS = ("documents", "objects", "operations", "warnings", "unhonored")

Own = tuple[int, str, str, WrittenManifest | None]
"""The number of the object that a pod is a replica of, the pod's name, uid and manifest."""


def packed(scenario: Scenario) -> bytes:
    """Pickle a scenario. Objects shared between its parts stay shared, because there is a single memo."""
    out = io.BytesIO()
    pickler = pickle.Pickler(out, pickle.HIGHEST_PROTOCOL)
    bare: dict[str, Any] = dict.fromkeys(FIELDS, ())
    pickler.dump(replace(scenario, **bare))
    for name in FIELDS:
        items: Sequence[Any] = getattr(scenario, name)
        if name == "objects":
            items = [*_abridged(items)]
        pickler.dump(len(items))
        for first in range(0, len(items), PART):
            pickler.dump(items[first : first + PART])
    return out.getvalue()


def unpacked(data: bytes) -> Scenario:
    """Return the scenario that :func:`packed` wrote in one of our processes, with short pauses."""
    load = pickle.Unpickler(io.BytesIO(data)).load  # noqa: S301 - the bytes are our own process's
    scenario: Scenario = load()
    fields: dict[str, Any] = {name: _items(load) for name in FIELDS}
    fields["objects"] = _whole(fields["objects"])
    return replace(scenario, **{name: tuple(items) for name, items in fields.items()})


def _abridged(objects: Sequence[KubernetesObject]) -> Iterator[KubernetesObject | Own]:
    """Yield each object; of a replica of an earlier one that one's number and what it does not share.

    Objects that are yielded whole are numbered from 0.
    """
    numbers: dict[int, int] = {}
    for obj, replicas in with_replicas_of_any(objects):
        numbers[id(obj)] = len(numbers)
        yield obj
        for pod, original in replicas:
            yield numbers[id(original)], pod.meta.name, pod.meta.uid, pod.meta.written


def _whole(items: Iterable[Pod | Own]) -> Iterator[KubernetesObject]:
    """Yield the objects that :func:`_abridged` was given."""
    originals: list[Pod] = []
    for item in items:
        if not isinstance(item, tuple):
            originals.append(item)
            yield item
            continue
        number, name, uid, written = item
        like = originals[number]
        yield replace(like, meta=replace(like.meta, name=name, uid=uid, written=written))


def _items(load: Callable[[], Any]) -> Iterator[Any]:
    left: int = load()
    began = time.monotonic()
    while left > 0:
        part = load()
        left -= len(part)
        yield from part
        if time.monotonic() - began > WORK_SECONDS:
            time.sleep(PAUSE_SECONDS)
            began = time.monotonic()
