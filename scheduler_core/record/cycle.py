"""The record of a scheduling cycle: every view reads it, none recomputes a decision.

A ``Cycle`` holds the arrays that the engine decided with. N is the number of nodes, P the
number of predicates evaluated (``order``), F the number of feasible nodes, and all node
vectors are in the cluster's object order. :mod:`scheduler_core.run.trace` makes the
documented line of a trace (docs/trace.schema.json) of it; the workbench reads the
arrays through ``playground.panels``.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Meta, Struct, field

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.kubernetes.plain import Seconds
from scheduler_core.record.cache_record import CacheRecord
from scheduler_core.record.choice import LateChoice, NodeChoice
from scheduler_core.record.plugin_record import AttemptRecord, PluginRecord
from scheduler_core.record.preemption import NominatedPass, Preemption
from scheduler_core.record.priority_row import PriorityRow
from scheduler_core.record.timeline import TimelineEvent

Result = Literal["scheduled", "unschedulable", "error", "waiting", "undecided"]
"""How an attempt ends. ``waiting`` (at Permit, for the pod's group) occurs in virtual time only.

``undecided`` is an attempt that is still in progress; only
:func:`scheduler_core.run.moment_record.upto` creates such a record.
"""
QuirkChange = Literal["predicates", "priorities", "preemption", "decision"]


class Decision(Struct, frozen=True, gc=False):
    """A cycle's effect on the cluster: all that is needed to replay it.

    A scheduler that decides about one pod at a time places at most ``pod``, on ``node``. One that commits
    several pods at once (a job, a round) places ``further`` pods with it.

    The state at any step is rebuilt by replaying the decisions, without deciding again.
    Pod keys are ``namespace/name``; nodes are names.
    """

    pod: str
    result: Result
    node: str | None = None
    nominated: str | None = None  # the node that preemption nominated the pod to
    victims: tuple[str, ...] = ()  # pods deleted for it, in order
    cleared: tuple[str, ...] = ()  # pods that lost their nomination
    ranked: bool = False  # two or more nodes were feasible: the round-robin counter advanced
    further: tuple[tuple[str, str], ...] = ()  # other pods that it places, each with its node

    @property
    def placements(self) -> tuple[tuple[str, str], ...]:
        """The pods that the decision places, each with its node, in order; none if it found no node."""
        return self.further if self.node is None else ((self.pod, self.node), *self.further)


class PredicateMatrix(Struct):
    """The outcome of every predicate on every node, as far as they were evaluated.

    ``codes`` is ``(P, N) int16``: 0 passed, k > 0 failed with ``reasons[k]``, -1 not reached
    (an earlier predicate had failed). ``reasons`` maps a code to its reason texts
    (``reasons[0]`` is empty). ``errors`` maps (predicate index, node index) to the error text.
    """

    order: tuple[str, ...]
    codes: npt.NDArray[np.int16]
    reasons: list[tuple[str, ...]]
    errors: dict[tuple[int, int], str] = field(default_factory=dict)


QUEUE_SHOWN = 50
"""Entries of each queue in the record of a step."""


class QueueState(Struct):
    """The queues at the moment the cycle's pod was popped (it is in neither).

    Each entry is (pod key, priority, position of creation); ``active`` is in pop order.
    At most ``QUEUE_SHOWN`` entries of each queue are kept; the counts are exact. In virtual time there are
    more queues; ``timed`` describes them all.
    """

    active: list[tuple[str, int, int]]
    active_count: int
    unschedulable: list[tuple[str, int, int]]
    unschedulable_count: int
    timed: TimedQueue | None = None


class QueueEntry(Struct, frozen=True):
    """A pod in a queue in virtual time: why it is there and when it will be tried.

    ``sort_key`` is the key that the QueueSort plugin compares; the pod with the smallest is tried first.
    ``queued`` is when the pod first entered the queue, ``since`` when it last did; ``backoff_until`` is the
    end of its backoff, possibly in the past. ``moved_by`` is why it is in this queue: created, failed,
    activated, backoff ended, updated, gates removed, or a cluster event. ``refused_by`` are the plugins that
    rejected it last. The cluster events ``helped_by`` requeue an unschedulable pod; at ``retry_at`` the
    periodic flush requeues it in any case.
    """

    pod: str
    place: Literal["active", "backoff", "unschedulable", "gated"]
    sort_key: tuple[float | str, ...]
    sort_by: str  # which time the key contains: that of the pod, the group or the failure
    queued: float
    since: float
    attempts: int
    backoff_until: float | None
    moved_by: str
    refused_by: tuple[str, ...]
    nominated: str
    helped_by: tuple[str, ...] = ()
    retry_at: float | None = None


class WaitingEntry(Struct, frozen=True):
    """A pod that waits at Permit on a node, and when its own timeout expires."""

    pod: str
    node: str
    since: Seconds
    deadline: Seconds | None
    plugins: tuple[str, ...]


class Queues(Struct, frozen=True):
    """The queues in virtual time: at most ``QUEUE_SHOWN`` ``entries`` of each are kept, ``counts`` are exact.

    ``flushes`` are the times of the next flushes, each with its name.
    """

    counts: dict[str, int]
    entries: tuple[QueueEntry, ...]
    waiting: tuple[WaitingEntry, ...]
    flushes: tuple[tuple[str, float], ...]


class TimedQueue(Queues, frozen=True):
    """The queues at the start of a cycle; ``tried`` is the entry of the cycle's pod when it was popped."""

    tried: QueueEntry


class KubernetesEvent(Struct):
    """A Kubernetes event, as ``kubectl get events`` prints it."""

    type: Literal["Normal", "Warning"]
    reason: str  # Scheduled, FailedScheduling, Preempted, NotTriggerScaleUp ...
    object: str  # pod/ns/name, node/name
    message: str


class Restart(Struct, frozen=True):
    """A restart of the scheduler before the cycle, with another policy or other settings."""

    operations: Annotated[
        tuple[str, ...], Meta(description="Ids of the operations that changed the configuration.")
    ]
    changes: Annotated[
        tuple[str, ...],
        Meta(
            description="What differs from the cycle before, in phrases; none if both configurations "
            "schedule alike."
        ),
    ]


class QuirkEffect(Struct, frozen=True):
    """A quirk of v1.11 without which the cycle's record would differ.

    The quirks are :data:`scheduler_core.schedulers.v1_11.quirks.QUIRKS`.

    ``changed`` names the parts of the record that would differ.
    """

    id: Annotated[str, Meta(description="The id of a row of the reference page's table of quirks.")]
    changed: Annotated[tuple[QuirkChange, ...], Meta(min_length=1, extra_json_schema={"uniqueItems": True})]
    nodes: Annotated[
        tuple[str, ...], Meta(description="The nodes on which a predicate would find something else.")
    ]
    text: Annotated[str, Meta(description="The facts, and what would come of them as it should be.")]


class FinalState(Struct, frozen=True):
    """The end of a run in virtual time, when no cycle is left.

    ``happenings`` are the timeline events since the last cycle, ``moves`` the pods they moved as (pod, node),
    with "" for pending and None for deleted.
    """

    time: float
    happenings: tuple[TimelineEvent, ...]
    queue: Queues
    plugins: tuple[PluginRecord, ...]
    moves: tuple[tuple[str, str | None], ...]


class Cycle(Struct):
    """Everything that one scheduling attempt decided, and why; every view of a step reads it."""

    index: int  # 1-based over the whole run
    step: str  # "major.minor": major counts outside operations (1: the initial objects)
    time: float  # virtual seconds
    decision: Decision
    message: str | None
    nodes: tuple[str, ...]  # names in object order, N
    matrix: PredicateMatrix | None  # None if the attempt ended before any predicate ran
    choice: NodeChoice | LateChoice  # among which nodes; read by ``feasible``, ``totals`` and ``ties``
    priorities: list[PriorityRow]
    last_node_index: int  # the round-robin counter before the choice
    preemption: Preemption | None  # what was tried; None if some node was feasible
    queue: QueueState
    operations: tuple[str, ...]  # ids of the outside operations applied just before this cycle
    events: list[KubernetesEvent]
    cache: CacheRecord | None = None  # the equivalence cache's work; None if it is off
    order: tuple[str, ...] = ()  # the predicates that are configured and evaluated, in order
    # every predicate on every node, without short-circuiting; None unless requested of the simulation
    unabridged: PredicateMatrix | None = None
    # the phases that ran: queue, predicates, priorities, select, preemption, assume, bind
    phases: tuple[str, ...] = ()
    # whether evaluation continued after a node's first failure (set by the policy in force)
    always_check_all: bool = False
    restart: Restart | None = None
    # the nodes that were first checked with nominated pods added, in object order
    nominated_passes: tuple[NominatedPass, ...] = ()
    # the quirks that changed the outcome, in the table's order
    quirks: tuple[QuirkEffect, ...] = ()
    # (predicate, node) pairs that had to be answered, by evaluation or from a cache, in both passes
    asked: int = 0
    # in virtual time: the events since the previous cycle, and the immediate consequences of this one
    # (bindings, rejections, moves between queues, controllers)
    happenings: tuple[TimelineEvent, ...] = ()
    consequences: tuple[TimelineEvent, ...] = ()
    # the pods that moved since the last cycle, as (pod, node), with "" for pending and None for deleted;
    # in order: those of the happenings, those of the attempt itself, and those of the consequences
    moves: tuple[tuple[str, str | None], ...] | None = None
    waiting: tuple[WaitingEntry, ...] = ()  # at Permit after the cycle, at most ``QUEUE_SHOWN``
    plugins: tuple[PluginRecord, ...] = ()  # the plugins' records of their own objects, in virtual time
    scheduler: str = ""  # in virtual time: the schedulerName of the custom scheduler whose attempt it is
    session: AttemptRecord | None = None  # that scheduler's own record of the attempt
    view: AttemptRecord | None = None  # with several schedulers: what it believed of the cluster

    @property
    def feasible(self) -> npt.NDArray[np.int32]:
        """The indices of the feasible nodes, in object order."""
        return self.choice.feasible

    @property
    def totals(self) -> IntVector | None:
        """The feasible nodes' totals, ``(F,)``; None if fewer than two nodes were feasible."""
        return self.choice.totals

    @property
    def ties(self) -> npt.NDArray[np.int32]:
        """The indices of the nodes with the best total, in the order that the tie-break counts."""
        return self.choice.ties

    @property
    def evaluations(self) -> int:
        """The (predicate, node) pairs evaluated, in both passes, excluding those of preemption."""
        cache = self.cache
        if cache is None:
            return self.asked
        # batching also evaluates nodes that the record does not show, and has answers for the rest
        return cache.counts.evaluations if cache.mode == "batching" else self.asked - cache.counts.hits

    @property
    def own_moves(self) -> tuple[tuple[str, str | None], ...]:
        """The part of ``moves`` that the attempt caused; all of them where happenings are not recorded."""
        before, after = (
            sum(len(happening.moves) for happening in part) for part in (self.happenings, self.consequences)
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
        """The node that the pod was bound to or waits on; None without one."""
        return self.decision.node
