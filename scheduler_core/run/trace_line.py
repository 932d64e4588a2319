"""The types of a trace's line, from which docs/trace.schema.json is generated.

:mod:`scheduler_core.run.trace` makes a line of a Cycle. Times are seconds of virtual time, pods
``namespace/name``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from scheduler_core.kubernetes.plain import Count, Seconds, one_of
from scheduler_core.record.cache_record import Counts, Invalidated, StaleHit
from scheduler_core.record.cycle import KubernetesEvent, QuirkEffect, Restart, WaitingEntry
from scheduler_core.record.preemption import Hopeless
from scheduler_core.record.priority_row import PriorityKind
from scheduler_core.schedulers.v1_11.preemption.criteria import TEXTS
from scheduler_core.settings.settings import CACHE_MODES

PHASES = (
    *("queue", "preFilter", "predicates", "priorities", "select", "preemption", "postFilter"),
    *("assume", "reserve", "permit", "preBind", "bind", "postBind"),
)
QueuedPod = tuple[
    Annotated[str, Meta(description="namespace/name")],
    Annotated[int, Meta(description="priority")],
    Annotated[int, Meta(description="position of creation")],
]


class Line(Struct, frozen=True, rename="camel"):
    """An object of a line."""


class PredicateVerdict(Line, frozen=True):
    """The outcome of one predicate on one node."""

    fit: bool
    reasons: Sequence[str]
    error: str | UnsetType = UNSET


class PriorityLine(Line, frozen=True):
    """One priority's scores, by node."""

    kind: Annotated[
        PriorityKind,
        Meta(
            description="Which functions the priority has: one for the whole list of nodes, Map alone, or "
            "Map and Reduce."
        ),
    ]
    weight: Annotated[int, Meta(ge=1)]
    map: Annotated[
        Mapping[str, int] | None,
        Meta(description="The raw value; null for a priority that is computed for all nodes in one go."),
    ]
    score: Annotated[Mapping[str, int], Meta(description="0 to 10, after reduce, before the weight.")]
    weighted: Annotated[
        Mapping[str, int], Meta(description="weight times score: what the priority adds to the node's total.")
    ]


class CandidateLine(Line, frozen=True):
    """A node where preemption found victims."""

    victims: Sequence[str]
    pdb_violations: Count


class PreemptionLine(Line, frozen=True):
    """What preemption found and chose, as in the recorded decisions."""

    eligible: bool
    potential_nodes: Sequence[str]
    candidates: Mapping[str, CandidateLine]
    node: str | None
    ties: Sequence[str]
    victims: Sequence[str]
    cleared_nominations: Sequence[str]


class LeavingLine(Line, frozen=True):
    """Victims that are not gone yet."""

    node: str | None
    pods: Sequence[str]


class NodeGroupLine(Line, frozen=True):
    """Nodes that are no candidates for the same reason."""

    why: Annotated[
        Hopeless,
        Meta(
            description="unresolvable: no deletion mends the reasons, so the node is no potential node; "
            "nothing-lower: it has no pods of lower priority; still-unfit: the pod does not fit even with "
            "all of them gone."
        ),
    ]
    reasons: Annotated[
        Sequence[str],
        Meta(description="The predicates' texts: those that no deletion mends, else those of what fails."),
    ]
    nodes: Sequence[str]


class PutBackLine(Line, frozen=True):
    """The attempt to put one pod back on the node."""

    pod: str
    priority: int
    violates: Annotated[
        Sequence[str],
        Meta(description="PodDisruptionBudgets that deleting the pod would violate, namespace/name."),
    ]
    result: Literal["kept", "victim"]
    reasons: Annotated[Sequence[str], Meta(description="Why the incoming pod did not fit beside a victim.")]


class DryRunLine(Line, frozen=True):
    """The dry run on one candidate node."""

    removed: Annotated[Sequence[str], Meta(description="All pods of lower priority, removed at first.")]
    put_back: Annotated[
        Sequence[PutBackLine], Meta(description="The same pods in the order in which they were put back.")
    ]


class CriterionLine(Line, frozen=True):
    """One criterion applied to the nodes that still compete."""

    criterion: Annotated[str, one_of(TEXTS)]
    values: Annotated[Mapping[str, int], Meta(description="node that still competed -> its value")]
    stay: Sequence[str]
    decided: Annotated[bool, Meta(description="Whether it left one node.")]


class PreemptionDetail(Line, frozen=True):
    """What preemption tried, beside what the field preemption holds."""

    leaving: Annotated[
        LeavingLine,
        Meta(
            description="Victims of a previous preemption that are still on the pod's nominated node; while "
            "there are any, nothing is tried."
        ),
    ]
    hopeless: Annotated[
        Sequence[NodeGroupLine], Meta(description="The nodes that are no candidates, by reason.")
    ]
    dry_runs: Annotated[Mapping[str, DryRunLine], Meta(description="candidate node -> what was tried there")]
    criteria: Annotated[
        Sequence[CriterionLine],
        Meta(
            description="The criteria applied, in order, as long as more than one node competed. The lowest "
            "value stays."
        ),
    ]
    decided_by: Annotated[
        str | None,
        Meta(description="The criterion that left one node; null if there were no two candidates."),
    ]


class NominatedPassLine(Line, frozen=True):
    """A node that was checked in two passes."""

    node: str
    pods: Sequence[str]
    failed: Annotated[
        Literal[1, 2] | None,
        Meta(description="The pass that failed the node; null if it fits in both."),
    ]


class QueueEntryLine(Line, frozen=True):
    """A pod in a queue in virtual time."""

    pod: str
    place: Literal["active", "backoff", "unschedulable", "gated"]
    sort_key: Annotated[
        Sequence[float | str],
        Meta(
            description="Priority, seconds of virtual time, and the pod's key where it decides: what the "
            "QueueSort plugin compares."
        ),
    ]
    sort_by: Annotated[
        Annotated[str, one_of(("pod", "group", "failure"))], Meta(description="Whose time is in the key.")
    ]
    queued: Annotated[Seconds, Meta(description="When it first entered the queue.")]
    since: Annotated[Seconds, Meta(description="When it last did.")]
    attempts: Count
    backoff_until: Seconds | None
    moved_by: Annotated[
        str,
        Meta(
            description="What brought it here: created, failed, activated, backoff ended, updated, gates "
            "removed, or a cluster event."
        ),
    ]
    refused_by: Annotated[Sequence[str], Meta(description="The plugins that failed it last.")]
    nominated: str | None


class FlushLine(Line, frozen=True):
    """The next flush of a queue."""

    queue: str
    at: Seconds


class TimedQueueLine(Line, frozen=True):
    """The queues in virtual time: every pod with its sort key, its timers and why it is there."""

    tried: QueueEntryLine
    counts: Annotated[
        Mapping[str, Count],
        Meta(description="How many pods are in each queue, and how many wait at Permit."),
    ]
    entries: Annotated[Sequence[QueueEntryLine], Meta(max_length=200)]
    waiting: Annotated[Sequence[WaitingEntry], Meta(max_length=50)]
    flushes: Sequence[FlushLine]


class QueueLine(Line, frozen=True):
    """The queues when the pod was popped."""

    active: Annotated[Sequence[QueuedPod], Meta(max_length=50)]
    active_count: Count
    unschedulable: Annotated[Sequence[QueuedPod], Meta(max_length=50)]
    unschedulable_count: Count
    timed: TimedQueueLine | UnsetType = UNSET


class CacheTotals(Counts, kw_only=True):
    """Counts of lookups, with the number of evaluations."""

    evaluations: Annotated[
        Count, Meta(description="Pairs of predicate and node that were evaluated: misses and bypassed.")
    ]


class CacheOff(Line, frozen=True):
    """The cache of a scheduler without one."""

    mode: Literal["off"] = "off"


class CacheLine(CacheTotals, rename="camel", kw_only=True):
    """The work of the equivalence cache, or of batching, in one cycle."""

    mode: Annotated[str, one_of(CACHE_MODES[1:])]
    equivalence_class: Annotated[
        Annotated[str, one_of(("controller", "attributes", "signature"))],
        Meta(description="What makes pods equivalent; batching goes by signature."),
    ]
    hash: Annotated[
        Annotated[str, Meta(pattern="^[0-9a-f]{16}$")] | None,
        Meta(description="The pod's class, null where it has none."),
    ]
    class_: Annotated[str, Meta(description="The class's name for people, empty where there is none.")] = (
        field(name="class")
    )
    members: Annotated[Count, Meta(description="Pods of the class.")]
    bypass: Annotated[
        str,
        Meta(
            description="Why the pod has no class, or nothing was looked up; why batching's ranking was not "
            "used."
        ),
    ]
    hint: Annotated[str, Meta(description="The node that batching offered, empty where none.")]
    totals: Annotated[
        CacheTotals, Meta(description="Since the scheduler's start, up to and with this cycle.")
    ]
    by_rule: Annotated[
        Mapping[str, Count],
        Meta(description="Entries cleared since the scheduler's start, by row of the invalidation table."),
    ]
    invalidations: Annotated[
        Sequence[Invalidated],
        Meta(
            max_length=100,
            description="Rows of the table that events of this cycle, or before it, set off; the first 100.",
        ),
    ]
    invalidations_count: Annotated[Count, Meta(description="Of all of them.")]
    audit: Annotated[bool, Meta(description="Whether every hit was checked against a fresh evaluation.")]
    stale_hits: Annotated[
        Sequence[StaleHit],
        Meta(
            max_length=100,
            description="Hits that the audit found to be untrue; the first 100 of stale.",
        ),
    ]
    causes: Annotated[
        Mapping[str, Count], Meta(description="Stale hits since the scheduler's start, by cause.")
    ]
    entries: Annotated[
        Count | UnsetType,
        Meta(
            description="Valid entries at the end of the cycle; batching keeps none and has this field and "
            "the next four not."
        ),
    ] = UNSET
    bytes: Count | UnsetType = UNSET
    classes: Count | UnsetType = UNSET
    evicted_classes: Count | UnsetType = UNSET
    evicted_entries: Count | UnsetType = UNSET


CACHES: tuple[type[Struct], ...] = (CacheOff, CacheLine)


class TimelineLine(Line, frozen=True):
    """An event of virtual time."""

    time: Seconds
    what: str
    about: str
    text: str


class CycleLine(Line, frozen=True, kw_only=True):
    """A scheduling cycle. The observers of plugins add their ``fields`` to it."""

    index: Annotated[int, Meta(ge=1, description="Number of the cycle in the whole run.")]
    step: Annotated[
        str,
        Meta(
            pattern=r"^[1-9][0-9]*\.[1-9][0-9]*$",
            description="major.minor: major counts the changes from outside (1: the initial objects), minor "
            "the cycles after one.",
        ),
    ]
    time: Annotated[float, Meta(ge=0, description="Virtual seconds.")]
    pod: Annotated[str, Meta(description="namespace/name")]
    result: Annotated[
        Annotated[str, one_of(("scheduled", "unschedulable", "error", "waiting"))],
        Meta(description="waiting: at Permit for the pods of its group, in virtual time."),
    ]
    node: Annotated[str | None, Meta(description="Where the pod was bound, or waits.")]
    message: Annotated[str | None, Meta(description="Why not, in the scheduler's words.")]
    order: Annotated[
        Sequence[str], Meta(description="The predicates that are configured and evaluated, in order.")
    ]
    predicates: Annotated[
        Mapping[str, Mapping[str, PredicateVerdict]],
        Meta(
            description="node -> predicate -> outcome; a predicate that was not reached on a node is absent "
            "there. Empty if the attempt ended before any predicate ran."
        ),
    ]
    failed: Annotated[
        Mapping[str, Sequence[str]],
        Meta(
            description="What was collected for each infeasible node; empty if the attempt ended in an error."
        ),
    ]
    feasible: Annotated[Sequence[str], Meta(description="Nodes that passed, in object order.")]
    priorities: Annotated[
        Mapping[str, PriorityLine], Meta(description="Empty when fewer than two nodes are feasible.")
    ]
    totals: Annotated[Mapping[str, int], Meta(description="Sum of weight times score.")]
    last_node_index: Annotated[Count, Meta(description="The round-robin counter before this attempt.")]
    preemption: PreemptionLine | None
    preemption_detail: Annotated[
        PreemptionDetail | None,
        Meta(description="What preemption tried, beside what the field preemption holds."),
    ]
    quirks: Annotated[
        tuple[QuirkEffect, ...],
        Meta(
            description="The quirks of v1.11 that changed a result: without each of them, the part of the "
            "cycle that is named would differ. Empty with quirks fixed."
        ),
    ]
    nominated_passes: Annotated[
        Sequence[NominatedPassLine],
        Meta(
            description="Nodes that were checked in two passes, because pods of equal or higher priority are "
            "nominated to them: first with these pods there, then without."
        ),
    ]
    ties: Annotated[
        Sequence[str],
        Meta(description="The nodes with the best total, in the order in which the counter takes them."),
    ]
    nominated: Annotated[str | None, Meta(description="The node that preemption nominated the pod to.")]
    scheduler: Annotated[
        str | UnsetType,
        Meta(
            description="Only for an attempt of a custom scheduler: its name, as in spec.schedulerName of "
            "its pods."
        ),
    ] = UNSET
    placements: Annotated[
        Annotated[tuple[tuple[str, str], ...], Meta(min_length=2)] | UnsetType,
        Meta(
            description="Only if the decision places several pods: each of them with its node; the first is "
            "pod and node."
        ),
    ] = UNSET
    queue: Annotated[
        QueueLine,
        Meta(
            description="The queues when the pod was popped; at most 50 entries of each. timed: those of a "
            "run in virtual time."
        ),
    ]
    operations: Annotated[
        Sequence[str],
        Meta(description="Ids of the changes from outside that were applied just before this cycle."),
    ]
    restart: Annotated[
        Restart | None,
        Meta(
            description="The scheduler was restarted before this cycle, with another policy or other "
            "settings; null if not."
        ),
    ]
    cache: Annotated[
        Any,  # of CACHES, which no tag tells apart: ``mode`` has several values of one of them
        Meta(
            description="What the equivalence cache, or batching, did in the cycle.",
            extra_json_schema={"oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in CACHES]},
        ),
    ]
    phases: Annotated[Sequence[Annotated[str, one_of(PHASES)]], Meta(extra_json_schema={"uniqueItems": True})]
    events: Sequence[KubernetesEvent]
    happenings: Annotated[
        Sequence[TimelineLine] | UnsetType,
        Meta(description="In virtual time: what happened since the last cycle, in order."),
    ] = UNSET
    consequences: Annotated[
        Sequence[TimelineLine] | UnsetType,
        Meta(
            description="In virtual time: what the cycle brought about at once: bindings, rejections, moves "
            "in the queue, controllers."
        ),
    ] = UNSET
    moves: Annotated[
        tuple[tuple[str, str | None], ...] | UnsetType,
        Meta(
            description="In virtual time: the pods that are elsewhere than after the last cycle, with their "
            "node: empty for a pending one, null for one that is gone."
        ),
    ] = UNSET
