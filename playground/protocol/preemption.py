"""The types of what is sent: preemption."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypedDict

from playground.protocol.declarations import row
from playground.protocol.sentences import Sentence
from playground.protocol.tables import NodeIndex

_CandidateVictim = Annotated[Sequence[Any], row(pod=str, priority=int, violates=bool)]


class CandidateWire(TypedDict):
    node: NodeIndex
    victims: Sequence[_CandidateVictim]
    count: int
    violations: int
    lost: int | None


_CandidatesFrom = TypedDict("_CandidatesFrom", {"from": int})


class CandidatesWire(_CandidatesFrom):
    count: int
    rows: Sequence[CandidateWire]


_DryRunStep = Annotated[
    Sequence[Any], row(pod=str, priority=int, budgets=Sequence[str], kept=bool, reasons=Sequence[str])
]


class DryRunWire(TypedDict):
    node: NodeIndex
    removed: Sequence[str]
    steps: Sequence[_DryRunStep]
    count: int


_CriterionStay = Annotated[Sequence[Any], row(node=NodeIndex, value=int)]


class CriterionWire(TypedDict):
    id: str
    text: str
    note: str
    stay: Sequence[_CriterionStay]
    stayed: int
    out: Sequence[_CriterionStay]
    dropped: int
    decided: bool


class HopelessWire(TypedDict):
    why: Literal["unresolvable", "nothing-lower", "still-unfit"]
    text: str
    reasons: Sequence[str]
    count: int
    nodes: Sequence[NodeIndex]


class PreemptionPartWire(TypedDict):
    outcome: Sequence[Sentence]
    eligible: bool
    node: NodeIndex | None
    potential: int
    victims: int
    candidates: CandidatesWire
    run: DryRunWire | None
    criteria: Sequence[CriterionWire]
    decidedBy: str | None
    hopeless: Sequence[HopelessWire]
    hopelessCount: int
    cleared: Sequence[str]
    leaving: Sequence[str]
