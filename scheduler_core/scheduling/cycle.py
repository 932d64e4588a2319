"""The one record of a scheduling cycle: every view reads it, none recomputes a decision.

A ``Cycle`` holds the arrays that the engine decided with. N is the number of nodes, P the
number of predicates evaluated (``order``), F the number of feasible nodes, and all node
vectors are in the cluster's object order. ``as_dict()`` is the documented trace line
(docs/trace.schema.json); the workbench reads the arrays through ``playground.panels``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from scheduler_core.objects.arrays import IntVector
from scheduler_core.priorities.row import PriorityRow
from scheduler_core.scheduling.cache_record import CacheRecord
from scheduler_core.scheduling.plugin_record import PluginRecord
from scheduler_core.scheduling.preemption.record import NominatedPass, Preemption
from scheduler_core.scheduling.timeline import TimelineEvent

Result = Literal["scheduled", "unschedulable", "error", "waiting", "undecided"]
"""How an attempt ends; ``waiting``, at Permit for its group, only in virtual time.

``undecided`` is one that is still under way; only :func:`scheduler_core.simulation.moment_record.upto` makes
such a record.
"""
QuirkChange = Literal["predicates", "priorities", "preemption", "decision"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a cycle did to the cluster, and all that replaying it needs.

    A run is rebuilt at any step by applying its decisions without deciding again.
    Pod keys are ``namespace/name``, nodes are names.
    """

    pod: str
    result: Result
    node: str | None = None
    nominated: str | None = None  # the node that preemption nominated the pod to
    victims: tuple[str, ...] = ()  # pods deleted for it, in order
    cleared: tuple[str, ...] = ()  # pods that lost their nomination
    ranked: bool = False  # two or more feasible nodes: the round-robin counter moved


@dataclass(slots=True)
class PredicateMatrix:
    """Outcome of every predicate on every node, as far as evaluation went.

    ``codes`` is ``(P, N) int16``: 0 passed, k > 0 failed with ``reasons[k]``, -1 not reached
    (an earlier predicate had failed). ``reasons`` maps a code to its reason texts
    (``reasons[0]`` is empty). ``errors`` maps (predicate index, node index) to the error text.
    """

    order: tuple[str, ...]
    codes: npt.NDArray[np.int16]
    reasons: list[tuple[str, ...]]
    errors: dict[tuple[int, int], str] = field(default_factory=dict)


@dataclass(slots=True)
class QueueState:
    """The queues at the moment the cycle's pod was popped (it is in neither).

    Each entry is (pod key, priority, position of creation); ``active`` is in pop order.
    At most ``QUEUE_SHOWN`` entries of each are kept; the counts are exact. In virtual time there are more
    queues: ``timed`` tells of all.
    """

    active: list[tuple[str, int, int]]
    active_count: int
    unschedulable: list[tuple[str, int, int]]
    unschedulable_count: int
    timed: TimedQueue | None = None


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """A pod in a queue in virtual time: why it is there and when it will be tried.

    ``sort_key`` is what the QueueSort plugin compares, in words and numbers; the smallest is tried first.
    ``queued`` is when it first entered the queue, ``since`` when it last did; ``backoff_until`` is the end of
    its backoff, which may be past. ``moved_by`` is what brought it here: created, failed, activated, backoff
    ended, updated, gates removed, or a cluster event. ``refused_by`` are the plugins that failed it last.
    An unschedulable pod is moved by the events ``helped_by``; ``retry_at`` is when its queue moves it anyway.
    """

    pod: str
    place: Literal["active", "backoff", "unschedulable", "gated"]
    sort_key: tuple[float | str, ...]
    sort_by: str  # whose time is in the key: pod, group or failure
    queued: float
    since: float
    attempts: int
    backoff_until: float | None
    moved_by: str
    refused_by: tuple[str, ...]
    nominated: str
    helped_by: tuple[str, ...] = ()
    retry_at: float | None = None


@dataclass(frozen=True, slots=True)
class WaitingEntry:
    """A pod that waits at Permit on a node, and when its own time is up."""

    pod: str
    node: str
    since: float
    deadline: float | None
    plugins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Queues:
    """The queues in virtual time; of each at most ``QUEUE_SHOWN`` ``entries`` are kept, ``counts`` are exact.

    ``flushes`` are the moments at which a queue is looked through next, with what it is.
    """

    counts: dict[str, int]
    entries: tuple[QueueEntry, ...]
    waiting: tuple[WaitingEntry, ...]
    flushes: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class TimedQueue(Queues):
    """The queues as a cycle found them; ``tried`` is its pod, as it was when it was popped."""

    tried: QueueEntry


@dataclass(slots=True)
class KubernetesEvent:
    """As ``kubectl get events`` prints it."""

    type: Literal["Normal", "Warning"]
    reason: str  # Scheduled, FailedScheduling, Preempted, NotTriggerScaleUp ...
    object: str  # pod/ns/name, node/name
    message: str


@dataclass(frozen=True, slots=True)
class Restart:
    """The scheduler was started anew, with another policy or other settings, before the cycle.

    ``operations`` are the ids of what changed them, ``changes`` tells in phrases what differs now.
    """

    operations: tuple[str, ...]
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuirkEffect:
    """A quirk of v1.11 (:data:`scheduler_core.quirks.QUIRKS`) without which the cycle's record would differ.

    ``changed`` says in what, ``nodes`` are those on which a predicate finds something else, and ``text``
    gives the facts in a sentence or two.
    """

    id: str
    changed: tuple[QuirkChange, ...]
    nodes: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class FinalState:
    """The end of a run in virtual time, when no cycle is left.

    ``happenings`` are those since the last cycle, ``moves`` whom they moved: (pod, node), "" pending, None
    gone.
    """

    time: float
    happenings: tuple[TimelineEvent, ...]
    queue: Queues
    plugins: tuple[PluginRecord, ...]
    moves: tuple[tuple[str, str | None], ...]


@dataclass(slots=True)
class Cycle:
    """Everything that one scheduling attempt decided, and why: what every view of a step reads."""

    index: int  # 1-based over the whole run
    step: str  # "major.minor": major counts outside operations (1: the initial objects)
    time: float  # virtual seconds
    decision: Decision
    message: str | None
    nodes: tuple[str, ...]  # names in object order, N
    matrix: PredicateMatrix | None  # None if the attempt ended before any predicate ran
    feasible: npt.NDArray[np.int32]  # node indices in object order
    priorities: list[PriorityRow]
    totals: IntVector | None  # (F,), None if fewer than two nodes were feasible
    ties: npt.NDArray[np.int32]  # node indices with the best total, in the order the tie-break counts
    last_node_index: int  # the round-robin counter before the choice
    preemption: Preemption | None  # what it tried; None if some node fitted
    queue: QueueState
    operations: tuple[str, ...]  # ids of the outside operations applied just before this cycle
    events: list[KubernetesEvent]
    cache: CacheRecord | None = None  # what the equivalence cache did, None where it is off
    order: tuple[str, ...] = ()  # the predicates that are configured and evaluated, in order
    # every predicate on every node, if the simulation was asked for it
    unabridged: PredicateMatrix | None = None
    # those that ran: queue, predicates, priorities, select, preemption, assume, bind
    phases: tuple[str, ...] = ()
    # whether a node's first failure did not end its way (the policy in force says so)
    always_check_all: bool = False
    restart: Restart | None = None
    # the nodes that were checked with nominated pods added first, in object order
    nominated_passes: tuple[NominatedPass, ...] = ()
    # the quirks that changed something, in the table's order
    quirks: tuple[QuirkEffect, ...] = ()
    # pairs of predicate and node that had to be answered, by evaluating or from a cache; in both passes
    asked: int = 0
    # in virtual time: what happened since the previous cycle, and what this one brought about at once
    # (bindings, rejections, moves in the queue, controllers)
    happenings: tuple[TimelineEvent, ...] = ()
    consequences: tuple[TimelineEvent, ...] = ()
    # who moved since the last cycle, in order: (pod, node), "" pending, None gone; those of the happenings,
    # those of the attempt itself, and those of the consequences
    moves: tuple[tuple[str, str | None], ...] | None = None
    waiting: tuple[WaitingEntry, ...] = ()  # at Permit after the cycle, at most ``QUEUE_SHOWN``
    plugins: tuple[PluginRecord, ...] = ()  # what plugins recorded of their own objects, in virtual time

    @property
    def evaluations(self) -> int:
        """Pairs of predicate and node that were evaluated, in both passes; without those of preemption."""
        cache = self.cache
        if cache is None:
            return self.asked
        # batching evaluates nodes besides those that the record shows, and has answers for all it does not
        return cache.counts.evaluations if cache.mode == "batching" else self.asked - cache.counts.hits

    @property
    def own_moves(self) -> tuple[tuple[str, str | None], ...]:
        """Those of ``moves`` that are the attempt's; all of them where happenings are not recorded."""
        before, after = (
            sum(len(happening.moves) for happening in told) for told in (self.happenings, self.consequences)
        )
        moves = self.moves or ()
        return moves[before : len(moves) - after]

    @property
    def pod(self) -> str:
        """The pod of the attempt, as ``namespace/name``."""
        return self.decision.pod

    @property
    def result(self) -> Result:
        """How the attempt ended."""
        return self.decision.result

    @property
    def node(self) -> str | None:
        """The node the pod was bound to or waits on, None if it was not."""
        return self.decision.node
