"""The bytes that a scenario takes in memory: counted, not guessed, as bundles differ by a factor of ten.

A pod with a few fields takes 3 KB, its text 220 bytes; an annotation of 5,000 characters takes just those.
"""

from __future__ import annotations

import gc
import math
import sys
import types
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.replicas import Replica, with_replicas_of_any
from scheduler_core.run.v1_37.manifests import document_of
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


class Weight(NamedTuple):
    """What a scenario takes in memory, approximately, and how many of its objects are replicas of others."""

    bytes: int
    replicas: int


def weight_of(scenario: Scenario) -> Weight:
    """Return what a scenario's documents, objects and operations take."""
    documents, objects = _Repeated(), _Repeated()
    documents.add_documents(scenario.documents)
    for obj, replicas in with_replicas_of_any(scenario.objects):
        objects.distinct.append(obj)
        objects.add_replicas(replicas)
    parts: tuple[Sequence[Any], ...] = (documents.distinct, objects.distinct, scenario.operations)
    total = weigh(
        scenario.settings,
        scenario.warnings,
        *map(_places, (scenario.documents, scenario.objects, scenario.operations)),
    )
    turns = max(1, math.ceil(max(map(len, parts)) / AT_ONCE))
    for turn in range(turns):
        # Objects are roughly in the order of their documents, and share data with them: both in one turn.
        total += weigh(*(one for part in parts for one in part[_slice(len(part), turn, turns)]))
    total += documents.more() + objects.more()
    return Weight(total, len(scenario.objects) - len(objects.distinct))


class _Repeated:
    """Documents or objects; of those that differ in little but their names, two are weighed for all."""

    def __init__(self) -> None:
        self.distinct: list[Any] = []
        self.second: dict[Hashable, tuple[Any, Any]] = {}  # one of the others, with the first
        self._more: Counter[Hashable] = Counter()

    def add_replicas(self, replicas: Sequence[Replica]) -> None:
        """Add pods that share all but name and uid with another one."""
        self._more.update([id(original) for _, original in replicas])
        self.second.update({id(replica[1]): replica for replica in replicas})

    def add_documents(self, documents: Iterable[Document]) -> None:
        """Add documents, of which pods' may share all but their metadata."""
        first: dict[Hashable, Document] = {}
        for document in documents:
            key = _parts(document)
            known = None if key is None else first.setdefault(key, document)
            if known is None or known is document:
                self.distinct.append(document)
            else:
                self._more[key] += 1
                self.second[key] = document, known

    def more(self) -> int:
        """Return the bytes of all that are not distinct; what an object was read from does not count."""
        total = 0
        for key, (item, first) in self.second.items():
            seen: set[int] = set()
            weigh(first, None if isinstance(item, dict) else document_of(item), seen=seen)
            total += self._more[key] * weigh(item, seen=seen)
        return total


_SMALL = frozenset(
    ("name", "namespace", "uid", "creationTimestamp", "labels", "annotations", "ownerReferences")
)
"""Fields of the metadata of pods that take little, or are shared."""


def _parts(document: Document) -> Hashable:
    """Return what a pod's document shares with others; None if it may be large by itself."""
    meta = document.get("metadata")
    if document.get("kind") != "Pod" or type(meta) is not dict or "name" not in meta or len(document) != 4:
        return None
    spec = document.get("spec")
    if spec is None or not _SMALL.issuperset(meta):
        return None
    of = meta.get
    return len(meta), id(spec), id(of("labels")), id(of("annotations")), id(of("ownerReferences"))


def _places(part: Sequence[Any]) -> tuple[None, ...]:
    return (None,) * len(part)  # the same size as the tuple itself


def _slice(length: int, turn: int, turns: int) -> slice:
    return slice(length * turn // turns, length * (turn + 1) // turns)
