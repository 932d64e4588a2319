"""PodTopologySpread: hard constraints filter, soft ones and the defaults score."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from scheduler_core.kubernetes.model import Requirement
from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.interface import (
    ClusterEvent,
    ClusterEventWithHint,
    Hint,
    HintAnswer,
    HintContext,
)
from scheduler_core.schedulers.v1_37.nodes import Mask, NodeTable
from scheduler_core.schedulers.v1_37.plugins.base import (
    MAX_SCORE,
    OK,
    SKIPPED,
    Codes,
    Context,
    Ints,
    Plugin,
    Rows,
    Status,
    unresolvable,
)
from scheduler_core.schedulers.v1_37.plugins.declaration import Argument, Declared, Reused, signs_nothing
from scheduler_core.schedulers.v1_37.plugins.default_selector import default_selector
from scheduler_core.schedulers.v1_37.plugins.hints import answer, labels, listed, metadata, spec, status
from scheduler_core.schedulers.v1_37.plugins.node_affinity import selected
from scheduler_core.schedulers.v1_37.plugins.taint_toleration import untolerated
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import Arguments
from scheduler_core.schedulers.v1_37.selectors import Selector, label_selector
from scheduler_core.schedulers.v1_37.status import UNSCHEDULABLE

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
NO_DOMAIN = 2**31 - 1
"""The least number of matching pods if there is no domain (math.MaxInt32)."""

HARD, SOFT = "DoNotSchedule", "ScheduleAnyway"

_SYSTEM_DEFAULTS = (
    {"topologyKey": HOSTNAME, "whenUnsatisfiable": SOFT, "maxSkew": 3},
    {"topologyKey": ZONE, "whenUnsatisfiable": SOFT, "maxSkew": 5},
)
SKEWED = Status(UNSCHEDULABLE, ("node(s) didn't match pod topology spread constraints",))
NO_LABEL = unresolvable("node(s) didn't match pod topology spread constraints (missing required label)")


class TopologySpreadConstraint(Struct, frozen=True):
    """A topology spread constraint, compiled for one pod."""

    key: str
    max_skew: int
    min_domains: int
    selector: Selector
    honors_affinity: bool
    honors_taints: bool


def constraints_of(ctx: Context, kind: str) -> list[TopologySpreadConstraint]:
    """Return the pod's constraints of a kind, or the default ones if it has none at all."""
    own = ctx.pod.spec.get("topologySpreadConstraints")
    if own:
        return [_compiled(entry, ctx.pod) for entry in own if entry["whenUnsatisfiable"] == kind]
    defaults = [
        e for e in default_constraints(ctx.arguments("PodTopologySpread")) if e["whenUnsatisfiable"] == kind
    ]
    if not defaults:
        return []
    selector = default_selector(ctx.cluster, ctx.pod)
    return [] if selector.empty else [_constraint(entry, selector) for entry in defaults]


def default_constraints(arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return the default constraints of the plugin's arguments."""
    if (arguments.get("defaultingType") or "System") == "System":
        return _SYSTEM_DEFAULTS
    return tuple(arguments.get("defaultConstraints") or ())


def _compiled(entry: Mapping[str, Any], pod: CompiledPod) -> TopologySpreadConstraint:
    labels = [k for k in entry.get("matchLabelKeys") or () if k in pod.labels]
    selector = label_selector(entry.get("labelSelector"))
    return _constraint(
        entry, selector.extended([Requirement(k, "In", (pod.labels[k],)) for k in sorted(labels)])
    )


def _constraint(entry: Mapping[str, Any], selector: Selector) -> TopologySpreadConstraint:
    return TopologySpreadConstraint(
        entry["topologyKey"],
        int(entry["maxSkew"]),
        int(entry.get("minDomains") or 1),
        selector,
        (entry.get("nodeAffinityPolicy") or "Honor") == "Honor",
        (entry.get("nodeTaintsPolicy") or "Ignore") == "Honor",
    )


def counted_by_row(ctx: Context, constraint: TopologySpreadConstraint) -> Ints:
    """Return each row's pods that the constraint counts; (capacity,) int64."""
    selector, namespace = constraint.selector, ctx.pod.namespace
    if selector.empty or selector.nothing:
        return np.zeros(ctx.nodes.capacity, np.int64)
    return ctx.cluster.selected.count(namespace, selector, ctx.nodes.capacity)


def eligible_rows(ctx: Context, constraint: TopologySpreadConstraint) -> Mask | None:
    """Return the rows that pass the constraint's inclusion policies; None if all do."""
    out = selected(ctx.nodes, ctx.pod) if constraint.honors_affinity else None
    if constraint.honors_taints:
        free = ~untolerated(ctx)
        out = free if out is None else out & free
    return out


def _having(nodes: NodeTable, constraints: list[TopologySpreadConstraint]) -> Mask:
    out = np.ones(nodes.capacity, np.bool_)
    for key in {constraint.key for constraint in constraints}:
        out &= nodes.label(key).ids >= 0
    return out


class Spread(Struct):
    """One hard constraint's state: matching pods per value, and which values are domains."""

    constraint: TopologySpreadConstraint
    matches: Ints
    domains: Mask
    number: int
    counts_row: Mask
    self_match: int

    def least(self) -> int:
        """Return the least number of matching pods over the domains."""
        if self.number < self.constraint.min_domains:
            return 0
        return int(self.matches[self.domains].min()) if self.number else NO_DOMAIN


class PodTopologySpread(Plugin):
    """Topology spread constraints."""

    key = "PodTopologySpread"

    def pre_filter(self, ctx: Context) -> tuple[Status, frozenset[str] | None]:
        """Count the matching pods of each domain for the hard constraints."""
        constraints = constraints_of(ctx, HARD)
        if not constraints:
            return SKIPPED, None
        nodes = ctx.nodes
        having = _having(nodes, constraints)
        ctx.states[self.key] = [self._state(ctx, constraint, having) for constraint in constraints]
        return OK, None

    @staticmethod
    def _state(ctx: Context, constraint: TopologySpreadConstraint, having: Mask) -> Spread:
        nodes = ctx.nodes
        column = nodes.label(constraint.key)
        eligible = eligible_rows(ctx, constraint)
        counts_row = having if eligible is None else having & eligible
        rows = nodes.order[counts_row[nodes.order]]
        ids = column.ids[rows]
        size = len(column.values)
        matches = np.bincount(ids, counted_by_row(ctx, constraint)[rows], size).astype(np.int64)
        domains = np.zeros(size, np.bool_)
        domains[ids] = True
        self_match = int(constraint.selector.matches(ctx.pod.labels))
        return Spread(constraint, matches, domains, int(domains.sum()), counts_row, self_match)

    def copy_state(self, state: Any) -> Any:
        """Copy the counts."""
        return [
            Spread(s.constraint, s.matches.copy(), s.domains.copy(), s.number, s.counts_row, s.self_match)
            for s in state
        ]

    def update(self, ctx: Context, state: Any, pod: CompiledPod, row: int, sign: int) -> None:
        """Count a pod in or out; upstream forgets here that terminating pods are not counted."""
        if pod.namespace != ctx.pod.namespace:
            return
        for spread in state:
            if spread.counts_row[row] and spread.constraint.selector.matches(pod.labels):
                number = ctx.nodes.label(spread.constraint.key).ids[row]
                spread.matches[number] += sign

    def filter(self, ctx: Context, rows: Rows) -> Codes | None:
        """Refuse nodes without a key (1) or with too many matching pods in their domain (2)."""
        codes = np.zeros(len(rows), np.int64)
        for spread in ctx.states[self.key]:
            ids = ctx.nodes.label(spread.constraint.key).ids[rows]
            missing = ids < 0
            found = np.append(spread.matches, 0)[ids]
            skewed = found + spread.self_match - spread.least() > spread.constraint.max_skew
            fresh = codes == 0
            codes[fresh & missing] = 1
            codes[fresh & ~missing & skewed] = 2
        return codes

    def verdict(self, ctx: Context, row: int, code: int) -> Status:
        """Return which of the two it was."""
        del ctx, row
        return NO_LABEL if code == 1 else SKEWED

    def pre_score(self, ctx: Context, rows: Rows) -> Status:
        """Count the matching pods of each domain for the soft constraints."""
        constraints = constraints_of(ctx, SOFT)
        if not constraints:
            return SKIPPED
        listed = bool(ctx.pod.spec.get("topologySpreadConstraints")) or (
            ctx.arguments(self.key).get("defaultingType") == "List"
        )
        having = _having(ctx.nodes, constraints) if listed else None
        ignored = np.zeros(len(rows), np.bool_) if having is None else ~having[rows]
        lines = list(_soft_lines(ctx, constraints, having, rows[~ignored]))
        ctx.states["PreScore" + self.key] = (ignored, lines)
        return OK

    def score(self, ctx: Context, rows: Rows) -> Ints:
        """Sum the weighted counts over the constraints; few pods of the kind are a low sum."""
        ignored, lines = ctx.states["PreScore" + self.key]
        total = np.zeros(len(rows))
        for key, counts, weight, skew in lines:
            ids = ctx.nodes.label(key).ids[rows]
            found = counts[rows] if key == HOSTNAME else counts[ids]
            more = weighted(found, weight, skew)
            there = ids >= 0
            total += more if there.all() else np.where(there, more, 0.0)
        raw = rounded(total)
        raw[ignored] = 0
        return raw

    def normalize(self, ctx: Context, rows: Rows, raw: Ints) -> Ints:
        """Turn the sums around, between least and most of the nodes that are not ignored."""
        ignored, _ = ctx.states["PreScore" + self.key]
        del rows
        counted = raw[~ignored]
        out = np.zeros_like(raw)
        if not len(counted):
            return out
        most, least = int(counted.max()), int(counted.min())
        out[~ignored] = turned(counted, most, least)
        return out


def weighted(counts: NDArray[Any], weight: float, skew: int) -> NDArray[np.float64]:
    """Return what a constraint adds to the raw score (scoreForCount)."""
    return counts * weight + float(skew - 1)


def rounded(total: NDArray[np.float64]) -> Ints:
    """Round non-negative sums half away from zero (math.Round)."""
    return np.floor(total + 0.5).astype(np.int64)


def turned(raw: Ints, most: int, least: int) -> Ints:
    """Give few matching pods a high score, many a low one."""
    if most == 0:
        return np.full_like(raw, MAX_SCORE)
    if most - least >= len(raw):
        return MAX_SCORE * (most + least - raw) // most
    table: Ints = (
        MAX_SCORE * (most - np.arange(most - least + 1)) // most
    )  # few different scores: divide once for each
    return table[raw - least]


def _soft_lines(
    ctx: Context, constraints: list[TopologySpreadConstraint], having: Mask | None, rows: Rows
) -> Iterator[tuple[str, NDArray[np.int64], float, int]]:
    """Yield key, counts (by row for the hostname, else by value), weight and maxSkew of each constraint."""
    nodes = ctx.nodes
    for constraint in constraints:
        counts = counted_by_row(ctx, constraint)
        if constraint.key == HOSTNAME:
            yield constraint.key, counts, math.log(len(rows) + 2), constraint.max_skew
            continue
        column = nodes.label(constraint.key)
        size = len(column.values)
        ids = column.ids[rows]
        present = np.zeros(size + 1, np.bool_)
        present[ids] = True  # a missing label is a value of its own
        everywhere = nodes.having(constraint.key)
        if having is not None:
            everywhere = everywhere[having[everywhere]]
        eligible = eligible_rows(ctx, constraint)
        if eligible is not None:
            everywhere = everywhere[eligible[everywhere]]
        by_value = np.bincount(column.ids[everywhere], counts[everywhere], size).astype(np.int64)
        by_value = np.append(np.where(present[:-1], by_value, 0), 0)
        yield constraint.key, by_value, math.log(int(present.sum()) + 2), constraint.max_skew


def _constraints(pod: CompiledPod, context: HintContext) -> Sequence[TopologySpreadConstraint]:
    return constraints_of(Context(pod, context.cluster, context.profile, context.configuration), HARD)


def _matched(constraints: Sequence[TopologySpreadConstraint], pod: Manifest | None) -> list[bool]:
    return [constraint.selector.matches(labels(pod)) for constraint in constraints]


def is_on_node(pod: Manifest) -> bool:
    """Return whether a pod is on a node."""
    return bool(spec(pod).get("nodeName"))


def is_on_or_nominated(pod: Manifest) -> bool:
    """Return whether a pod is on a node or nominated to one."""
    return is_on_node(pod) or bool(status(pod).get("nominatedNodeName"))


class SpreadChangeHint(Struct, frozen=True):
    """Answers for changes of other pods; ``counts`` is which of them count for the spreading."""

    counts: Callable[[Manifest], bool] = is_on_node

    def __call__(self, pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
        """Answer for a pod that was bound, deleted or relabeled."""
        if not self._is_involved(event.new, pod) or not self._is_involved(event.old, pod):
            return "QueueSkip"
        other = event.new or event.old
        constraints = _constraints(pod, context)
        if event.old is None or event.new is None:
            return answer(any(_matched(constraints, other)))
        return answer(_matched(constraints, event.old) != _matched(constraints, event.new))

    def _is_involved(self, other: Manifest | None, pod: CompiledPod) -> bool:
        if other is None or CompiledPod(other).uid == pod.uid:
            return True
        return self.counts(other) and (metadata(other).get("namespace") or "default") == pod.namespace


def events_by(hint: Hint, *also: str) -> tuple[ClusterEventWithHint, ...]:
    """Return the registrations with a hint for other pods; ``also`` are more updates that concern it."""
    return (
        ClusterEventWithHint("AssignedPod", frozenset({"Add", "Delete", "UpdatePodLabel", *also}), hint),
        ClusterEventWithHint(
            "TargetPod", frozenset({"UpdatePodLabel", "UpdatePodToleration"}), _after_target_change
        ),
        ClusterEventWithHint(
            "Node", frozenset({"Add", "Delete", "UpdateNodeLabel", "UpdateNodeTaint"}), _after_node_change
        ),
    )


def _after_target_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    constraints = _constraints(pod, context)
    tolerations_changed = (spec(event.old).get("tolerations") or []) != (
        spec(event.new).get("tolerations") or []
    )
    if tolerations_changed and any(constraint.honors_taints for constraint in constraints):
        return "Queue"
    return answer(_matched(constraints, event.old) != _matched(constraints, event.new))


def _after_node_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    keys = [constraint.key for constraint in _constraints(pod, context)]

    def counts(node: Manifest | None) -> bool:
        return node is not None and all(key in labels(node) for key in keys)

    if event.old is None or event.new is None:
        return answer(counts(event.old) or counts(event.new))
    if counts(event.old) != counts(event.new):
        return "Queue"
    moved = any(labels(event.old).get(key) != labels(event.new).get(key) for key in keys)
    taints_changed = (spec(event.old).get("taints") or []) != (spec(event.new).get("taints") or [])
    return answer(counts(event.new) and (moved or taints_changed))


def _until(pod: CompiledPod) -> str:
    keys = dict.fromkeys(
        str(one.get("topologyKey"))
        for one in pod.spec.get("topologySpreadConstraints") or ()
        if one.get("whenUnsatisfiable") != "ScheduleAnyway"
    )
    label = f"the label {listed(list(keys))}" if keys else "the label of a default constraint"
    return (
        f"a pod that a constraint selects is bound, deleted or relabeled, or a node with {label} "
        "is added, removed, relabeled or has its taints changed"
    )


DEFAULT_CONSTRAINTS = "PodTopologySpread has default constraints"


def _unsigned_because(pod: CompiledPod, arguments: Arguments) -> str:
    if pod.spec.get("topologySpreadConstraints"):
        return "the pod has topology spread constraints"
    return DEFAULT_CONSTRAINTS if default_constraints(arguments) else ""


_ARGUMENTS = (
    Argument(
        "defaultingType", "choice", "System", "System: ScheduleAnyway with maxSkew 3 over "
        "kubernetes.io/hostname and 5 over topology.kubernetes.io/zone; List: the constraints below",
        ("System", "List"),
    ),
    Argument(
        "defaultConstraints", "constraints", (), "for pods that define none and belong to a Service or "
        "controller", least=1, only={"defaultingType": "List"},
    ),
)  # fmt: skip


PLUGIN = Declared(
    "PodTopologySpread",
    "preFilter filter preScore score",
    rank=130,
    weight=2,
    unprepared={
        "filter": 'reading "PreFilterPodTopologySpread" from cycleState: not found',
        "score": 'error reading "PreScorePodTopologySpread" from cycleState: not found',
    },
    filters="the skew of each DoNotSchedule constraint stays within maxSkew with the pod in the node's "
    "domain",
    prefers="domains with few matching pods, by the ScheduleAnyway constraints",
    formula="matching pods of the domain, weighted by the number of domains; normalized by 100 · "
    "(greatest + least − score) / greatest",
    arguments=_ARGUMENTS,
    events=events_by(SpreadChangeHint()),
    until=_until,
    signs=signs_nothing,
    unsigned_because=_unsigned_because,
    reuse=Reused(filter="own", score="own"),
    code=PodTopologySpread(),
)
