"""The types of what is sent: matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from playground.protocol.declarations import Raw, row
from playground.protocol.sentences import Sentence
from playground.protocol.tables import NodeIndex

_PredicatesFails = Annotated[
    Sequence[Any], row(nodes=Sequence[NodeIndex], predicates=Sequence[int], reasons=Sequence[int])
]
_PredicatesError = Annotated[Sequence[Any], row(node=NodeIndex, predicate=int, text=str)]
_PredicatesSource = Annotated[Sequence[Any], row(letter=str, count=int)]
_PredicatesInvalidated = Annotated[Sequence[Any], row(predicate=int, nodes=Sequence[NodeIndex] | None)]


class PredicatesPartWire(TypedDict):
    order: Sequence[str]
    fails: _PredicatesFails
    reasons: Sequence[Sequence[str]]
    skipped: Literal["after-first-failure", "none"]
    errors: Sequence[_PredicatesError]
    # By predicate: runs over the nodes of one letter: h hit, m evaluated, b beside the cache, . not
    # reached, - none.
    sources: Sequence[Sequence[_PredicatesSource]] | None
    invalidated: Sequence[_PredicatesInvalidated]
    # Under v1.37: nodes that the walk did not reach, and plugins that PreFilter skipped.
    outside: NotRequired[Sequence[NodeIndex]]
    unneeded: NotRequired[Sequence[int]]
    # What PodTopologySpread counted for each hard constraint; the first domains, those with the fewest
    # pods first.
    spread: NotRequired[Sequence[SpreadCountsWire]]


_SpreadCountsPolicies = Annotated[Sequence[Any], row(nodeAffinityPolicy=str, nodeTaintsPolicy=str)]
_SpreadCountsDomain = Annotated[Sequence[Any], row(value=str, pods=int, refused=bool)]


class SpreadCountsWire(TypedDict):
    key: str
    maxSkew: int
    minDomains: int
    least: int
    # Whether the pod matches the constraint's selector.
    itself: bool
    policies: _SpreadCountsPolicies
    domains: Sequence[_SpreadCountsDomain]
    number: int
    refused: int


class ScoreRowWire(TypedDict):
    name: str
    # Under v1.37 one of the last two.
    kind: Literal["function", "map", "map/reduce", "plugin", "extender"]
    weight: int
    # A number stands for a list in which all are the same.
    raw: Sequence[int] | int | None
    score: Sequence[int] | int


class PrioritiesPartWire(TypedDict):
    nodes: Sequence[NodeIndex]
    rows: Sequence[ScoreRowWire]
    totals: Sequence[int]
    ties: Sequence[NodeIndex]
    counter: int
    inTurn: bool
    winner: NodeIndex | None
    # Under v1.37, with the score plugins that PreScore skipped, and the profile that was used.
    release: NotRequired[str]
    unscored: NotRequired[Sequence[str]]
    profile: NotRequired[str]
    # Under v1.37: which scores do not mean what one would take them for.
    said: NotRequired[Sequence[Sentence]]
    # Under v1.37, by node: its place in the order in which equal totals reach the root of the heap.
    turns: NotRequired[Sequence[int]]
    # Under v1.37 with extenders, if kube-scheduler takes one of several nodes at random.
    atRandom: NotRequired[bool]


class ScoreStepWire(TypedDict):
    """A step of a priority's arithmetic."""

    of: str
    formula: str
    numbers: str
    exact: str
    value: str


_ExplanationRange = Annotated[Sequence[Any], row(lowest=int, highest=int)]


class ExplanationWire(TypedDict):
    index: int
    node: NodeIndex
    priority: int
    name: str
    kind: Annotated[Any, Raw("ScoreRow['kind']")]
    weight: int
    prefers: str
    map: int | None
    score: int
    weighted: int
    total: int
    reference: str | None
    range: _ExplanationRange
    value: Sequence[ScoreStepWire]
    scale: Sequence[ScoreStepWire]
