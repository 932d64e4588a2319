"""The types of what is sent: cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from playground.protocol.declarations import Named, Raw, row
from playground.protocol.descheduler import DeschedulerPartWire
from playground.protocol.equivalence import CachePartWire
from playground.protocol.groups import NativePodGroupsWire, NoPodGroupsWire, PodGroupsPartWire
from playground.protocol.kueue import KueuePartWire
from playground.protocol.matrices import PredicatesPartWire, PrioritiesPartWire
from playground.protocol.network import NetworkPartWire
from playground.protocol.preemption import PreemptionPartWire
from playground.protocol.queues import HintsPartWire, QueuePartWire
from playground.protocol.sentences import AbsentWire, Sentence
from playground.protocol.session import SessionPartWire
from playground.protocol.settings import PolicyWire
from playground.protocol.tables import (
    Change,
    ClusterEvent,
    LaterPods,
    NodeChange,
    NodeIndex,
    PodIndex,
    TerminatingChange,
)
from playground.protocol.views import ViewsPartWire

Result = Annotated[
    Literal["scheduled", "unschedulable", "error", "preemption", "waiting", "undecided"], Named("Result")
]
_AppliedQuirk = Annotated[Sequence[Any], row(id=str, parts=Sequence[str], text=str)]
_LightNominated = Annotated[Sequence[Any], row(node=NodeIndex, victims=Sequence[PodIndex])]
_Rung = Annotated[Sequence[Any], row(predicate=str, before=int, after=int)]
_LightQueue = Annotated[Sequence[Any], row(active=int, unschedulable=int)]
_LightCache = Annotated[Sequence[Any], row(hits=int, evaluations=int, invalidated=int, stale=int)]
_WaitingAtPermit = Annotated[Sequence[Any], row(pod=PodIndex, node=NodeIndex, deadline=float | None)]


class LightWire(TypedDict):
    """The cheap record of a cycle."""

    index: int
    step: str
    time: float
    pod: PodIndex
    result: Result
    # Under v1.37.
    release: NotRequired[str]
    node: NodeIndex | None
    message: str | None
    feasible: int
    changes: Sequence[Change]
    operations: Sequence[str]
    inside: Sequence[str]
    policy: int
    restart: Sequence[str] | None
    quirks: Sequence[_AppliedQuirk]
    alwaysCheckAll: bool
    nominated: _LightNominated | None
    ladder: Sequence[_Rung]
    story: Sequence[Sentence]
    phases: Sequence[str]
    events: Sequence[ClusterEvent]
    stopped: Mapping[str, int]
    queue: _LightQueue
    cache: _LightCache | None
    waiting: Sequence[_WaitingAtPermit]
    nodes: Sequence[NodeChange]
    terminating: NotRequired[Sequence[TerminatingChange]]
    profile: NotRequired[str]


_WindowFrom = TypedDict("_WindowFrom", {"from": int})


class WindowWire(_WindowFrom):
    """A number of cycles, and the cluster before the first of them."""

    placement: Sequence[int]
    nodes: Sequence[NodeChange] | None
    cycles: Sequence[LightWire]
    pods: NotRequired[LaterPods]
    # Those before the first of them.
    terminating: NotRequired[Sequence[PodIndex]]


_MomentMove = Annotated[Sequence[Any], row(pod=PodIndex, node=int | None)]


class MomentWire(TypedDict):
    """Something that happens in a step, with the pods that it moves."""

    time: float
    kind: Literal["event", "attempt", "consequence"]
    what: str
    text: Sentence
    moves: Sequence[_MomentMove]
    events: int
    more: NotRequired[int]
    nodes: NotRequired[Sequence[NodeIndex]]


class CutWire(TypedDict):
    """How a cycle is at the end of a phase, as its difference from the entry before."""

    phase: str
    light: Annotated[Any, Raw("Partial<Light>")]
    parts: Mapping[str, Mapping[str, object]]
    instead: Mapping[str, object]


class NoHintsWire(TypedDict):
    why: str


class PartsWire(TypedDict):
    """The heavy parts of a cycle, as far as they were asked for.

    At the end of a run some fields of Light beside them.
    """

    index: int
    step: str
    policy: NotRequired[PolicyWire]
    predicates: NotRequired[PredicatesPartWire]
    priorities: NotRequired[PrioritiesPartWire | AbsentWire]
    preemption: NotRequired[PreemptionPartWire | AbsentWire]
    queue: NotRequired[QueuePartWire]
    hints: NotRequired[HintsPartWire | NoHintsWire]
    cache: NotRequired[CachePartWire | Annotated[Any, Raw("CacheSettings & Absent & { gone?: true }")]]
    podgroups: NotRequired[PodGroupsPartWire | NativePodGroupsWire | NoPodGroupsWire]
    session: NotRequired[SessionPartWire | AbsentWire]
    views: NotRequired[ViewsPartWire | AbsentWire]
    kueue: NotRequired[KueuePartWire | AbsentWire]
    descheduler: NotRequired[DeschedulerPartWire | AbsentWire]
    network: NotRequired[NetworkPartWire | AbsentWire]
    # At the end of a run. Asked for as a part it is each node's reasons, which no page reads.
    nodes: NotRequired[Annotated[Any, Raw("NodeChange[]")]]
    terminating: NotRequired[Sequence[TerminatingChange]]
    moments: NotRequired[Sequence[MomentWire]]
    cuts: NotRequired[Sequence[CutWire]]
    pods: NotRequired[LaterPods]
    end: NotRequired[Literal[True]]
    time: NotRequired[float]
    story: NotRequired[Sequence[Sentence]]
    events: NotRequired[Sequence[ClusterEvent]]
    waiting: NotRequired[Annotated[Any, Raw("Light['waiting']")]]


_FoundWhy = Annotated[Sequence[Any], row(place=int, text=str)]


class FoundWire(TypedDict):
    index: int | None
    why: Sequence[_FoundWhy]
    seen: int
    over: bool
