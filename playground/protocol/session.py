"""The types of what is sent: session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Never, NotRequired, TypedDict

from playground.protocol.declarations import Named, row
from playground.protocol.sentences import Sentence
from playground.protocol.tables import ClusterEvent

SessionAmounts = Annotated[Mapping[str, float], Named("SessionAmounts")]
"""By resource: cpu in millicores, memory in bytes, others in thousandths."""
_ProportionRoundQueue = Annotated[
    Sequence[Any], row(name=str, weight=int, deserved=SessionAmounts, satisfied=bool)
]


class ProportionRoundWire(TypedDict):
    """What proportion divides in a round, and what each queue deserves then."""

    number: int
    weights: int
    before: SessionAmounts
    after: SessionAmounts
    queues: Sequence[_ProportionRoundQueue]
    count: int


_SessionSharesQueue = Annotated[Sequence[Any], row(allocated=SessionAmounts, share=float)]
_SessionSharesJob = Annotated[Sequence[Any], row(allocated=SessionAmounts, share=float, dominant=str)]


class SessionSharesWire(TypedDict):
    """The shares that are known, or change: of queues and of jobs, each with what it has."""

    queues: Mapping[str, _SessionSharesQueue]
    jobs: Mapping[str, _SessionSharesJob]


class HeapPopWire(TypedDict):
    what: Literal["queue", "job", "task"]
    size: int
    items: Sequence[str]
    popped: str


_NodeChoiceCounts = Annotated[Sequence[Any], row(refused=int, short=int, candidates=int)]
_NodeChoiceRefused = Annotated[Sequence[Any], row(why=str, nodes=Sequence[str], count=int)]
_NodeChoiceCandidate = Annotated[Sequence[Any], row(node=str, score=float)]


class NodeChoiceWire(TypedDict):
    counts: _NodeChoiceCounts
    refused: Sequence[_NodeChoiceRefused]
    short: Sequence[str]
    candidates: Sequence[_NodeChoiceCandidate]
    parts: Mapping[str, Sequence[float]]
    chosen: str


_VictimChoiceAnswer = Annotated[Sequence[Any], row(tier=int, plugin=str, victims=Sequence[str], count=int)]


class VictimChoiceWire(TypedDict):
    what: Literal["preemptable", "reclaimable"]
    candidates: Sequence[str]
    count: int
    answers: Sequence[_VictimChoiceAnswer]
    decided: float
    victims: Sequence[str]


_SessionDetailOperation = Annotated[Sequence[Any], row(how=str, task=str)]


class SessionDetailWire(TypedDict):
    """What belongs to a step of a session beside its sentence."""

    round: NotRequired[ProportionRoundWire]
    heap: NotRequired[HeapPopWire]
    nodes: NotRequired[NodeChoiceWire]
    victims: NotRequired[VictimChoiceWire]
    operations: NotRequired[Sequence[_SessionDetailOperation]]


class SessionStepWire(TypedDict):
    number: int
    action: str
    step: str
    job: str
    text: Sentence
    detail: SessionDetailWire | None
    shares: SessionSharesWire


_SessionStepsFrom = TypedDict("_SessionStepsFrom", {"from": int})


class SessionStepsWire(_SessionStepsFrom):
    count: int
    action: str
    job: str
    accounts: SessionSharesWire
    rows: Sequence[SessionStepWire]


_SessionQueueAllocated = Annotated[Sequence[Any], row(before=SessionAmounts, after=SessionAmounts)]
_SessionQueueShare = Annotated[Sequence[Any], row(before=int, after=int)]


class SessionQueueWire(TypedDict):
    queue: str
    deserved: SessionAmounts
    request: SessionAmounts
    allocated: _SessionQueueAllocated
    share: _SessionQueueShare


_SessionJobDropped = Annotated[Sequence[Any], row(action=str, task=str, why=str)]


class SessionJobWire(TypedDict):
    job: str
    share: _SessionQueueShare | None
    dominant: str
    placed: int
    bound: int
    evicted: int
    forgotten: int
    dropped: Sequence[_SessionJobDropped]
    invalid: str
    phase: str


_SessionLeftOut = Annotated[Sequence[Any], row(kind=str, name=str, why=str)]
_SessionStatement = Annotated[Sequence[Any], row(action=str, job=str, how=str, operations=int)]
_SessionGroup = Annotated[
    Sequence[Any], row(key=str, phase=str, running=int, succeeded=int, failed=int, message=str)
]


class SessionPartWire(TypedDict):
    number: int
    time: float
    actions: Sequence[str]
    bound: int
    evicted: int
    omitted: int
    rounds: Sequence[ProportionRoundWire]
    roundCount: int
    queues: Sequence[SessionQueueWire]
    queueCount: int
    jobs: Sequence[SessionJobWire]
    jobCount: int
    leftOut: Sequence[_SessionLeftOut]
    leftOutCount: int
    statements: Sequence[_SessionStatement]
    statementsCount: int
    groups: Sequence[_SessionGroup]
    groupsCount: int
    events: Sequence[ClusterEvent]
    eventsCount: int
    steps: SessionStepsWire
    why: NotRequired[Never]
