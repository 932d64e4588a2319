"""The types of what is sent: caching."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Never, NotRequired, TypedDict

from playground.protocol.declarations import Raw, row
from playground.protocol.settings import CacheMode
from playground.protocol.tables import NodeIndex


class CacheCountsWire(TypedDict):
    hits: int
    misses: int
    bypassed: int
    writes: int
    discarded: int
    invalidated: int
    stale: int
    evaluations: int


class InvalidationWire(TypedDict):
    rule: str
    words: str
    source: str
    event: str
    predicates: Sequence[str] | None
    nodes: Sequence[NodeIndex]
    nodesCount: int | None
    cleared: int
    during: bool


class StaleHitWire(TypedDict):
    node: NodeIndex
    predicate: str
    cached: Sequence[str]
    true: Sequence[str]
    written: int
    rule: str
    event: str
    cause: str


class CacheSettingsWire(TypedDict):
    mode: CacheMode
    equivalenceClass: Annotated[Any, Raw("Policy['equivalenceClass']")]
    audit: bool
    staleWrites: Annotated[Any, Raw("Policy['staleWrites']")]


class CachedClassWire(TypedDict):
    hash: str
    name: str
    members: int


_CachePredicate = Annotated[Sequence[Any], row(name=str, hits=int, misses=int, bypassed=int, notReached=int)]
_CacheByRule = Annotated[Sequence[Any], row(rule=str, cleared=int)]
_CacheCause = Annotated[Sequence[Any], row(cause=str, hits=int)]
_CachePartClass = TypedDict("_CachePartClass", {"class": CachedClassWire | None})


class CachePartWire(CacheSettingsWire, _CachePartClass):
    bypass: str
    hint: NodeIndex | None
    counts: CacheCountsWire
    totals: CacheCountsWire
    predicates: Sequence[_CachePredicate]
    invalidations: Sequence[InvalidationWire]
    invalidationsCount: int
    byRule: Sequence[_CacheByRule]
    stale: Sequence[StaleHitWire]
    causes: Sequence[_CacheCause]
    entries: int
    bytes: int
    classes: int
    evictedClasses: int
    evictedEntries: int
    why: NotRequired[Never]
    gone: NotRequired[Never]


class CacheClassWire(TypedDict):
    hash: str
    name: str
    members: int
    entries: int


_CacheClassesFrom = TypedDict("_CacheClassesFrom", {"from": int})


class CacheClassesWire(_CacheClassesFrom):
    count: int
    rows: Sequence[CacheClassWire]
    without: int


_CacheMembersRow = Annotated[Sequence[Any], row(pod=str, node=int)]
_CacheMembersFrom = TypedDict("_CacheMembersFrom", {"from": int})


class CacheMembersWire(_CacheMembersFrom):
    hash: str
    name: str
    count: int
    rows: Sequence[_CacheMembersRow]


class FieldDifferenceWire(TypedDict):
    field: str
    first: str
    second: str


class ClassDefinitionsWire(TypedDict):
    controller: bool
    attributes: bool


class EquivalentWire(TypedDict):
    equivalent: bool
    text: str
    differences: Sequence[FieldDifferenceWire]
    definitions: ClassDefinitionsWire


_CacheMapFrom = TypedDict("_CacheMapFrom", {"from": int})


class CacheMapWire(_CacheMapFrom):
    """The map of the cache by node, predicate or class; with a `key` its entries, else the keys."""

    by: Literal["node", "predicate", "class"]
    key: NotRequired[str]
    count: int
    rows: Sequence[Annotated[Any, Raw("CacheKey & CacheEntry")]]


class CacheKeyWire(TypedDict):
    key: str
    label: str
    entries: int
    fits: int
    fails: int


_CacheEntryClass = TypedDict("_CacheEntryClass", {"class": str})


class CacheEntryWire(_CacheEntryClass):
    node: NodeIndex
    predicate: str
    hash: str
    fit: bool
    reasons: Sequence[str]
    written: int
