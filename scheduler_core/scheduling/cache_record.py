"""A cycle's record of the equivalence cache: lookups, writes, invalidations and the audit's findings."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from scheduler_core.objects.plain import plain

NODES_SHOWN = 20
INVALIDATIONS_SHOWN = 100
STALE_SHOWN = 100


class ResultSource(IntEnum):
    """The source of a predicate's result on a node."""

    NOT_REACHED = 0
    HIT = 1
    MISS = 2  # evaluated and written
    BYPASSED = 3  # evaluated without using the cache


Sources = npt.NDArray[np.uint8]
BoolMatrix = npt.NDArray[np.bool_]


class Invalidated(Struct, frozen=True, rename="camel"):
    """An invalidation by one row of the table; ``nodes`` are the first of ``count``, empty for all nodes."""

    rule: str
    event: str
    predicates: tuple[str, ...] | None  # None: all of them
    nodes: tuple[str, ...]
    count: int = field(name="nodesCount")
    cleared: int  # entries that were valid until then
    during: bool = False  # the event arrived between evaluation and write


class StaleHit(Struct, frozen=True):
    """A cached result that is no longer true. Reasons are empty where the pod fits.

    ``written`` is the cycle that evaluated it; ``event`` the first event since then after which it should
    have been invalid, and ``rule`` the row of the table that covers the event ("" where no row does).
    """

    node: str
    predicate: str
    cached: tuple[str, ...]
    true: tuple[str, ...]
    written: int
    rule: str
    event: str
    cause: str


class Counts(Struct):
    """Counts of lookups and their results. ``evaluations`` are the (predicate, node) pairs evaluated."""

    hits: int = 0
    misses: int = 0
    bypassed: int = 0
    writes: int = 0
    discarded: int = 0  # results not written because an event invalidated them first
    invalidated: int = 0  # entries cleared
    stale: int = 0

    @property
    def evaluations(self) -> int:
        """The pairs that were evaluated, whether written or not."""
        return self.misses + self.bypassed

    def add(self, other: Counts) -> None:
        """Add the counts of ``other`` to these."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def as_dict(self) -> dict[str, int]:
        """Return them as JSON."""
        return {
            **{name: getattr(self, name) for name in self.__struct_fields__},
            "evaluations": self.evaluations,
        }


class CacheStats(Struct, frozen=True):
    """The cache's size, and what it evicted for lack of space since its creation."""

    entries: int  # valid ones: (node, predicate, hash)
    bytes: int
    classes: int
    predicates: int
    evicted_classes: int
    evicted_entries: int


class CacheRecord(Struct):
    """The cache's work in one cycle.

    ``hash`` is the hash of the pod's equivalence class, ``None`` where it has none; ``bypass`` then gives the
    reason. ``hint`` is the node that batching offered. ``sources`` is ``(P, N) uint8`` of
    :class:`ResultSource`, ``None`` without a trace; ``cleared``, ``(P, N) bool``, marks the entries that were
    looked up and then invalidated by the cycle's own events, ``None`` if there are none. ``by_rule`` counts
    the entries cleared by each row over the run so far, ``totals`` everything else; ``stats`` are those at
    the end of the cycle.
    """

    mode: str
    definition: str
    hash: int | None = None
    name: str = ""
    members: int = 0
    bypass: str = ""
    hint: str = ""
    counts: Counts = field(default_factory=Counts)
    totals: Counts = field(default_factory=Counts)
    by_rule: Mapping[str, int] = field(default_factory=dict)
    sources: Sources | None = None
    cleared: BoolMatrix | None = None
    invalidations: list[Invalidated] = field(default_factory=list)
    invalidations_count: int = 0
    audited: bool = False
    stale: list[StaleHit] = field(default_factory=list)
    causes: Mapping[str, int] = field(default_factory=dict)  # stale hits by cause over the run so far
    stats: CacheStats | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON of a trace line; only the first of many invalidations and stale hits are listed."""
        answer: dict[str, Any] = {
            "mode": self.mode,
            "equivalenceClass": self.definition,
            "hash": None if self.hash is None else f"{self.hash:016x}",
            "class": self.name,
            "members": self.members,
            "bypass": self.bypass,
            "hint": self.hint,
            **self.counts.as_dict(),
            "totals": self.totals.as_dict(),
            "byRule": dict(self.by_rule),
            "invalidations": plain(self.invalidations),
            "invalidationsCount": self.invalidations_count,
            "audit": self.audited,
            "staleHits": plain(self.stale),
            "causes": dict(self.causes),
        }
        if self.stats is not None:
            answer |= {
                "entries": self.stats.entries,
                "bytes": self.stats.bytes,
                "classes": self.stats.classes,
                "evictedClasses": self.stats.evicted_classes,
                "evictedEntries": self.stats.evicted_entries,
            }
        return answer
