"""The bytes that a scenario takes in memory: counted, not guessed, as bundles differ by a factor of ten.

A pod with a few fields takes 3 KB, its text 220 bytes; an annotation of 5,000 characters takes just those.
"""

from __future__ import annotations

import gc
import math
import sys
import types
from collections.abc import Sequence
from typing import Any

from scheduler_core.kubernetes.model import KubernetesObject, Pod
from scheduler_core.kubernetes.replicas import with_replicas
from scheduler_core.scenario.scenario import Scenario

AT_ONCE = 4_000  # documents, objects or operations: the bookkeeping for more would itself be large

#: Part of the program, not of what is weighed.
_PROGRAM = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.CodeType,
)


def weigh(*roots: Any, seen: set[int] | None = None) -> int:
    """Return the bytes of all objects reachable from the roots, each counted once.

    ``seen`` holds identities that do not count, and receives those that do. Objects of the program are left
    out; NumPy arrays count with the data that they own.
    """
    known = set() if seen is None else seen
    total = 0
    level: list[Any] = list(roots)
    while level:
        holders: list[Any] = []
        for item in level:
            key = id(item)
            if key in known or isinstance(item, _PROGRAM):
                continue
            known.add(key)
            total += sys.getsizeof(item)
            # dicts and tuples of plain values are not tracked, but hold references all the same
            if gc.is_tracked(item) or type(item) in (dict, tuple):
                holders.append(item)
        level = gc.get_referents(*holders)
        for item in holders:
            if type(item) is dict:
                level += item  # the collector skips keys that are strings
    return total


def scenario_bytes(scenario: Scenario) -> int:
    """Return approximately how many bytes a scenario takes: its documents, objects and operations."""
    objects: list[KubernetesObject] = []
    total = 0
    for obj, replicas in with_replicas(scenario.objects):
        objects += [obj, *replicas[:1]]
        total += _more_replicas(obj, replicas)
    parts = (scenario.documents, objects, scenario.operations)
    turns = max(1, math.ceil(max(map(len, parts)) / AT_ONCE))
    total += weigh(
        scenario.settings, scenario.warnings, *map(_places, (*parts, scenario.objects[len(objects) :]))
    )
    for turn in range(turns):
        # Objects are roughly in the order of their documents, and share data with them: both in one turn.
        total += weigh(*(one for part in parts for one in part[_slice(len(part), turn, turns)]))
    return total


def _more_replicas(obj: KubernetesObject, replicas: Sequence[Pod]) -> int:
    """Return the bytes of all replicas but the first, each as that one's: only their names differ."""
    if len(replicas) < 2:
        return 0
    seen: set[int] = set()
    weigh(obj, seen=seen)
    return (len(replicas) - 1) * weigh(replicas[0], seen=seen)


def _places(part: Sequence[Any]) -> tuple[None, ...]:
    return (None,) * len(part)  # the same size as the tuple itself


def _slice(length: int, turn: int, turns: int) -> slice:
    return slice(length * turn // turns, length * (turn + 1) // turns)
