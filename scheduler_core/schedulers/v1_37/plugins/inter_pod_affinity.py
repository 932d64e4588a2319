"""InterPodAffinity: required terms of the pod and of the pods on nodes filter, preferred ones score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from scheduler_core.schedulers.v1_37.change import Manifest
from scheduler_core.schedulers.v1_37.interface import (
    ClusterEvent,
    ClusterEventWithHint,
    Hint,
    HintAnswer,
    HintContext,
)
from scheduler_core.schedulers.v1_37.nodes import NodeTable
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
from scheduler_core.schedulers.v1_37.plugins.declaration import Argument, Declared, Reused
from scheduler_core.schedulers.v1_37.plugins.hints import always, answer, labels, listed
from scheduler_core.schedulers.v1_37.pod_spec import AffinityTerm
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import Arguments
from scheduler_core.schedulers.v1_37.state import ClusterState
from scheduler_core.schedulers.v1_37.status import UNSCHEDULABLE

_AFFINITY = unresolvable("node(s) didn't match pod affinity rules")
_ANTI_AFFINITY = Status(UNSCHEDULABLE, ("node(s) didn't match pod anti-affinity rules",))
_EXISTING = Status(UNSCHEDULABLE, ("node(s) didn't satisfy existing pods anti-affinity rules",))

Counts = dict[str, Ints]
"""By topology key: how many (or how much weight) for each value of the label, by its id."""


def selects(cluster: ClusterState, term: AffinityTerm, pod: CompiledPod) -> bool:
    """Return whether a term means the pod."""
    labels = {} if term.namespace_selector.nothing else cluster.namespace_labels(pod.namespace)
    return term.selects(pod.namespace, pod.labels, labels)


def own_selects(cluster: ClusterState, term: AffinityTerm, other: CompiledPod) -> bool:
    """Return whether a term of the pod that is scheduled means another pod.

    Its namespaceSelector is turned into names first, so that a namespace that does not exist is none of them
    (mergeAffinityTermNamespacesIfNotEmpty); the empty selector stays and means every namespace.
    """
    known = cluster.objects.get("Namespace", {})
    if term.namespace_selector.requirements and other.namespace not in known:
        return other.namespace in term.namespaces and term.selector.matches(other.labels)
    return selects(cluster, term, other)


class _State(Struct):
    """What PreFilter counted; the three tables of preFilterState."""

    existing: Counts
    affinity: Counts
    anti: Counts

    def copy(self) -> _State:
        return _State(
            *(
                {key: values.copy() for key, values in table.items()}
                for table in (self.existing, self.affinity, self.anti)
            )
        )


def _add_rows(nodes: NodeTable, counts: Counts, key: str, by_row: Ints) -> None:
    """Add what rows have to the values of a label."""
    column = nodes.label(key)
    rows = nodes.order
    ids = column.ids[rows]
    size = len(column.values) + 1  # the last, which -1 takes, collects the rows without the label
    table = _table(counts, key, size)
    np.add.at(table, ids, by_row[rows])
    table[-1] = 0


def _table(counts: Counts, key: str, size: int) -> Ints:
    found = counts.get(key)
    if found is None:
        found = counts[key] = np.zeros(size, np.int64)
    return found


def _add(nodes: NodeTable, counts: Counts, key: str, row: int, amount: int) -> None:
    column = nodes.label(key)
    number = column.ids[row]
    if number >= 0:
        _table(counts, key, len(column.values) + 1)[number] += amount


class InterPodAffinity(Plugin):
    """Pod affinity and anti-affinity."""

    key = "InterPodAffinity"
    own_selects = staticmethod(own_selects)
    """Whether a term of the pod that is scheduled means another pod."""

    def selects_all(self, cluster: ClusterState, terms: tuple[AffinityTerm, ...], other: CompiledPod) -> bool:
        """Return whether all terms of the pod that is scheduled mean the other; no terms mean none."""
        return bool(terms) and all(self.own_selects(cluster, term, other) for term in terms)

    def pre_filter(self, ctx: Context) -> tuple[Status, frozenset[str] | None]:
        """Count who matches whose terms by topology; skip if nothing can refuse the pod."""
        cluster, pod, nodes = ctx.cluster, ctx.pod, ctx.nodes
        state = _State({}, {}, {})
        for each in cluster.classes.with_required_anti.values():
            for term in each.affinity.required_anti:
                if selects(cluster, term, pod):
                    by_row = np.zeros(nodes.capacity, np.int64)
                    each.add_to(by_row)
                    _add_rows(nodes, state.existing, term.topology_key, by_row)
        own = pod.affinity
        if own.required:
            by_row = cluster.classes.count(
                nodes.capacity,
                own.required[0].selector,
                lambda other: self.selects_all(cluster, own.required, other),
            )
            for term in own.required:
                _add_rows(nodes, state.affinity, term.topology_key, by_row)
        for term in own.required_anti:
            by_row = cluster.classes.count(
                nodes.capacity,
                term.selector,
                lambda other, term=term: self.own_selects(cluster, term, other),  # type: ignore[misc]
            )
            _add_rows(nodes, state.anti, term.topology_key, by_row)
        ctx.states[self.key] = state
        if not own.required and not own.required_anti and not any(t.any() for t in state.existing.values()):
            return SKIPPED, None
        return OK, None

    def copy_state(self, state: Any) -> Any:
        """Copy the tables."""
        return state.copy()

    def update(self, ctx: Context, state: Any, pod: CompiledPod, row: int, sign: int) -> None:
        """Count a pod in or out of the tables."""
        cluster, nodes, own = ctx.cluster, ctx.nodes, ctx.pod.affinity
        for term in pod.affinity.required_anti:
            if selects(cluster, term, ctx.pod):
                _add(nodes, state.existing, term.topology_key, row, sign)
        if self.selects_all(cluster, own.required, pod):
            for term in own.required:
                _add(nodes, state.affinity, term.topology_key, row, sign)
        for term in own.required_anti:
            if self.own_selects(cluster, term, pod):
                _add(nodes, state.anti, term.topology_key, row, sign)

    def filter(self, ctx: Context, rows: Rows) -> Codes | None:
        """Refuse by affinity (1), anti-affinity (2), or anti-affinity of other pods (3)."""
        state: _State = ctx.states[self.key]
        codes = np.zeros(len(rows), np.int64)
        codes[_anywhere(ctx.nodes, state.existing, rows)] = 3
        codes[_anywhere(ctx.nodes, state.anti, rows)] = 2
        required = ctx.pod.affinity.required
        if required:
            codes[~self._satisfied(ctx, state, required, rows)] = 1
        return codes

    def _satisfied(
        self, ctx: Context, state: _State, required: tuple[AffinityTerm, ...], rows: Rows
    ) -> NDArray[np.bool_]:
        having = np.ones(len(rows), np.bool_)
        found = np.ones(len(rows), np.bool_)
        for term in required:
            ids = ctx.nodes.label(term.topology_key).ids[rows]
            having &= ids >= 0
            found &= state.affinity[term.topology_key][ids] > 0
        first = not any(table.any() for table in state.affinity.values()) and self.selects_all(
            ctx.cluster, required, ctx.pod
        )
        return having if first else having & found

    def verdict(self, ctx: Context, row: int, code: int) -> Status:
        """Return whose rule it was."""
        del ctx, row
        return (_AFFINITY, _ANTI_AFFINITY, _EXISTING)[code - 1]

    def pre_score(self, ctx: Context, rows: Rows) -> Status:
        """Sum the weights by topology; skip if nothing contributes."""
        del rows
        arguments = ctx.arguments(self.key)
        own = ctx.pod.affinity
        prefers = bool(own.preferred or own.preferred_anti)
        if arguments.get("ignorePreferredTermsOfExistingPods") and not prefers:
            return SKIPPED
        hard = arguments.get("hardPodAffinityWeight")
        weights = self._weights(ctx, 1 if hard is None else int(hard))
        if not weights:
            return SKIPPED
        ctx.states["PreScore" + self.key] = weights
        return OK

    def score(self, ctx: Context, rows: Rows) -> Ints:
        """Add up the weights of the node's topologies."""
        total = np.zeros(len(rows), np.int64)
        for key, weights in ctx.states["PreScore" + self.key].items():
            total += weights[ctx.nodes.label(key).ids[rows]]
        return total

    def normalize(self, ctx: Context, rows: Rows, raw: Ints) -> Ints:
        """Scale between the least and the greatest sum."""
        del ctx, rows
        least, most = int(raw.min()), int(raw.max())
        if most == least:
            return np.zeros_like(raw)
        return (MAX_SCORE * ((raw - least) / float(most - least))).astype(np.int64)

    def _weights(self, ctx: Context, hard: int) -> Mapping[str, Ints]:
        """Return the sum of weights for each value of each topology key that some term contributes to."""
        cluster, pod, nodes = ctx.cluster, ctx.pod, ctx.nodes
        own = pod.affinity
        mine = [(t, t.weight) for t in own.preferred] + [(t, -t.weight) for t in own.preferred_anti]
        by_row: dict[str, Ints] = {}
        contributing: dict[str, NDArray[np.bool_]] = {}

        def add(term: AffinityTerm, each: Any, weight: int) -> None:
            if term.topology_key not in by_row:
                by_row[term.topology_key] = np.zeros(nodes.capacity, np.int64)
                contributing[term.topology_key] = np.zeros(nodes.capacity, np.bool_)
            each.add_to(by_row[term.topology_key], weight)
            contributing[term.topology_key][list(each.counts)] = True

        for each in cluster.classes if mine else ():
            for term, weight in mine:
                if self.own_selects(cluster, term, each.example):
                    add(term, each, weight)
        for each in cluster.classes.with_affinity.values():
            theirs = each.affinity
            terms = [(t, hard) for t in theirs.required] if hard > 0 else []
            terms += [(t, t.weight) for t in theirs.preferred]
            terms += [(t, -t.weight) for t in theirs.preferred_anti]
            for term, weight in terms:
                if selects(cluster, term, pod):
                    add(term, each, weight)
        out: dict[str, Ints] = {}
        for key, amounts in by_row.items():
            here = nodes.order[contributing[key][nodes.order]]
            if (nodes.label(key).ids[here] >= 0).any():
                _add_rows(nodes, out, key, amounts)
        return out


def _anywhere(nodes: NodeTable, counts: Counts, rows: Rows) -> NDArray[np.bool_]:
    out = np.zeros(len(rows), np.bool_)
    for key, table in counts.items():
        out |= table[nodes.label(key).ids[rows]] > 0
    return out


def _selects(term: AffinityTerm, pod: CompiledPod) -> bool:
    return term.selects(pod.namespace, pod.labels, {})


def all_select(terms: tuple[AffinityTerm, ...], pod: CompiledPod) -> bool:
    """Return whether all terms select a pod in hints; no terms select none."""
    return bool(terms) and all(_selects(term, pod) for term in terms)


def _any(terms: Iterable[AffinityTerm], pod: CompiledPod) -> bool:
    return any(_selects(term, pod) for term in terms)


class PodChangeHint(Struct, frozen=True):
    """Answers for changes of pods on nodes, by how many anti-affinity terms have to select one.

    ``matches`` compares the waiting pod's terms with the other, ``of_gone`` those of a deleted pod with it.
    """

    matches: Callable[[tuple[AffinityTerm, ...], CompiledPod], bool] = _any
    of_gone: Callable[[tuple[AffinityTerm, ...], CompiledPod], bool] = _any

    def __call__(self, pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
        """Answer for a pod that was bound, deleted or relabeled."""
        del context
        required, anti = pod.affinity.required, pod.affinity.required_anti
        if event.old is None or event.new is None:
            other = CompiledPod(event.old or event.new or {})
            if event.old is None:
                return answer(all_select(required, other))
            return answer(self.matches(anti, other) or self.of_gone(other.affinity.required_anti, pod))
        before, now = CompiledPod(event.old), CompiledPod(event.new)
        begins = not all_select(required, before) and all_select(required, now)
        return answer(begins or (self.matches(anti, before) and not self.matches(anti, now)))


def _after_node_change(pod: CompiledPod, event: ClusterEvent, context: HintContext) -> HintAnswer:
    del context
    required, anti = pod.affinity.required, pod.affinity.required_anti
    if event.old is None:
        return answer(bool(anti) or any(term.topology_key in labels(event.new) for term in required))
    return answer(
        any(_appears_or_changes(term.topology_key, event.old, event.new) for term in required)
        or any(_appears_or_changes(term.topology_key, event.new, event.old) for term in anti)
    )


def _appears_or_changes(key: str, before: Manifest | None, now: Manifest | None) -> bool:
    value = labels(now).get(key)
    return value is not None and value != labels(before).get(key)


def events_by(hint: Hint, own: Hint = always) -> tuple[ClusterEventWithHint, ...]:
    """Return the registrations with a hint for other pods, and one for new labels of the waiting pod."""
    return (
        ClusterEventWithHint("AssignedPod", frozenset({"Add", "Delete", "UpdatePodLabel"}), hint),
        ClusterEventWithHint("TargetPod", frozenset({"UpdatePodLabel"}), own),
        ClusterEventWithHint("Node", frozenset({"Add", "UpdateNodeLabel"}), _after_node_change),
    )


def _until(pod: CompiledPod) -> str:
    affinity = pod.affinity
    keys = dict.fromkeys(term.topology_key for term in (*affinity.required, *affinity.required_anti))
    where = f" with the label {listed(list(keys))}" if keys else ""
    return f"a pod that a term selects is bound, deleted or relabeled, or a node{where} is added or relabeled"


def _signed(pod: CompiledPod, arguments: Arguments) -> Any:
    """Return the labels, which terms of other pods select."""
    return None if arguments.get("ignorePreferredTermsOfExistingPods") else dict(pod.labels)


def _unsigned_because(pod: CompiledPod, arguments: Arguments) -> str:
    del arguments
    affinity = pod.spec.get("affinity") or {}
    has_terms = affinity.get("podAffinity") or affinity.get("podAntiAffinity")
    return "the pod has affinity or anti-affinity to pods" if has_terms else ""


_ARGUMENTS = (
    Argument(
        "hardPodAffinityWeight", "integer", 1, "0 to 100: what a required term of a pod that is there weighs",
        most=100,
    ),
    Argument(
        "ignorePreferredTermsOfExistingPods", "flag", False, "preferred terms of pods that are there do not "
        "count, unless the pod has terms of its own",
    ),
)  # fmt: skip


PLUGIN = Declared(
    "InterPodAffinity",
    "preFilter filter preScore score",
    rank=140,
    weight=2,
    unprepared={
        "filter": 'error reading "PreFilterInterPodAffinity" from cycleState: not found',
        "score": 'failed to read "PreScoreInterPodAffinity" from cycleState: not found',
    },
    filters="required pod affinity and anti-affinity hold, and no pod there has anti-affinity to this one",
    prefers="domains with pods that preferred terms select",
    formula="sum of the weights of terms; normalized to 0–100 between least and greatest",
    arguments=_ARGUMENTS,
    events=events_by(PodChangeHint()),
    until=_until,
    signs=_signed,
    unsigned_because=_unsigned_because,
    reuse=Reused(filter="own", score="none"),
    code=InterPodAffinity(),
)
