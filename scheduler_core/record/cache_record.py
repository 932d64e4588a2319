"""A cycle's record of the equivalence cache: lookups, writes, invalidations and the audit's findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Annotated, Protocol

import numpy as np
import numpy.typing as npt
from msgspec import Meta, Struct, field

from scheduler_core.kubernetes.plain import Count

NODES_SHOWN = 20
INVALIDATIONS_SHOWN = 100
STALE_SHOWN = 100


class CacheReport(Protocol):
    """What reports ask of the cache of a run."""

    @property
    def totals(self) -> Counts:
        """The counts of the whole run."""

    @property
    def bytes(self) -> int:
        """The memory in use now, in bytes."""

    def report(self) -> Iterator[str]:
        """Yield the lines of a report on the whole run."""


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

    rule: Annotated[str, Meta(description="Id of the row.")]
    event: Annotated[str, Meta(description="What happened to what, such as Pod/ADD default/web-1 on n1.")]
    predicates: Annotated[tuple[str, ...] | None, Meta(description="null: all of them.")]
    nodes: Annotated[tuple[str, ...], Meta(max_length=NODES_SHOWN, description="The first 20 of nodesCount.")]
    count: Annotated[Count, Meta(description="0: all nodes.")] = field(name="nodesCount")
    cleared: Annotated[Count, Meta(description="Entries that were valid until then.")]
    during: Annotated[bool, Meta(description="The event landed between evaluating and writing.")] = False


class StaleHit(Struct, frozen=True):
    """A cached result that is no longer true."""

    node: str
    predicate: str
    cached: Annotated[tuple[str, ...], Meta(description="Reasons of the cached answer; none: the pod fits.")]
    true: Annotated[tuple[str, ...], Meta(description="Reasons of the fresh one.")]
    written: Annotated[Count, Meta(description="The cycle that evaluated the cached answer.")]
    rule: Annotated[
        str,
        Meta(description="Id of the row of mode sound that says it should have gone, empty where none does."),
    ]
    event: Annotated[str, Meta(description="The first event since then after which it should have.")]
    cause: str


class Counts(Struct):
    """Counts of lookups and their results. ``evaluations`` are the (predicate, node) pairs evaluated."""

    hits: Count = 0
    misses: Count = 0
    bypassed: Count = 0
    writes: Count = 0
    discarded: Annotated[Count, Meta(description="Results not written, because an event overtook them.")] = 0
    invalidated: Annotated[Count, Meta(description="Entries cleared.")] = 0
    stale: Count = 0

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
