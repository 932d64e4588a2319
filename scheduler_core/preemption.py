"""Preemption: which pods would have to go, and on which node (core.genericScheduler.Preempt).

All potential nodes are tried at once: a view has one row a node, each in a world where only
that node's pods are taken away and put back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scheduler_core.cluster.pods import PodState
from scheduler_core.cluster.reasons import Codes
from scheduler_core.cluster.selecting import compile_selector, matches
from scheduler_core.cluster.state import Cluster
from scheduler_core.cluster.view import View
from scheduler_core.filtering import FitCheck
from scheduler_core.policy import Profile
from scheduler_core.queue import SchedulingQueue
from scheduler_core.quirks import quirk

# Failures that no deletion of pods can mend (core.nodesWherePreemptionMightHelp).
UNRESOLVABLE_REASONS = frozenset(
    {
        "node(s) didn't match node selector",
        "node(s) didn't match the requested hostname",
        "node(s) had taints that the pod didn't tolerate",
        "node(s) didn't have the requested labels",
        "node(s) were not ready",
        "node(s) had unavailable network",
        "node(s) were unschedulable",
        "node(s) had unknown conditions",
        "node(s) had no available volume zone",
        "node(s) had volume node affinity conflict",
        "node(s) didn't find available persistent volumes to bind",
    }
)
PRIORITY_OFFSET = 2**31  # v1.11 adds MaxInt32 + 1 to each victim's priority before summing


@dataclass(slots=True)
class Candidate:
    """A node where the pod would fit, without these pods; violating ones first."""

    node: str
    victims: list[PodState] = field(default_factory=list)
    violations: int = 0


@dataclass(slots=True)
class Preemption:
    """What preemption tried and chose. ``cleared`` are pods that lose their nomination."""

    eligible: bool = True
    potential: list[str] = field(default_factory=list)
    candidates: list[Candidate] = field(default_factory=list)
    chosen: Candidate | None = None
    ties: list[str] = field(default_factory=list)
    cleared: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return the conformance format's object."""
        return {
            "eligible": self.eligible,
            "potentialNodes": self.potential,
            "candidates": {
                c.node: {"victims": [pod.key for pod in c.victims], "pdbViolations": c.violations}
                for c in self.candidates
            },
            "node": self.chosen.node if self.chosen else None,
            "ties": self.ties,
            "victims": [pod.key for pod in self.chosen.victims] if self.chosen else [],
            "clearedNominations": self.cleared,
        }


def preempt(
    pod: PodState, failed: Codes, cluster: Cluster, queue: SchedulingQueue, profile: Profile
) -> Preemption:
    """Look for pods of lower priority to delete so that the pod fits; changes nothing."""
    result = Preemption()
    if _waits_for_victims(pod, cluster):
        result.eligible = False
        return result
    potential = _potential_nodes(failed, cluster)
    names = cluster.columns.names
    result.potential = [names[node] for node in potential.tolist()]
    if not result.potential:
        result.cleared = [pod.key] if pod.nominated else []
        return result
    # a node without pods of lower priority stays as it is, and there the pod did not fit
    rows = potential[cluster.lowest_priority[potential] < pod.priority]
    if rows.size:
        result.candidates = _dry_run(pod, View(cluster, rows), queue, profile)
    if result.candidates:
        result.chosen, result.ties = pick_node(result.candidates)
        nominated = queue.nominated_to(result.chosen.node)
        result.cleared = [other.key for other in nominated if other.priority < pod.priority]
    return result


def _waits_for_victims(pod: PodState, cluster: Cluster) -> bool:
    """Tell whether pods that a former preemption deleted are still leaving (podEligibleToPreemptOthers)."""
    node = cluster.columns.index.get(pod.nominated) if pod.nominated else None
    if node is None:
        return False
    return any(
        other.terminating and other.priority < pod.priority for other in cluster.residents[node].values()
    )


def _potential_nodes(failed: Codes, cluster: Cluster) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    hopeless = np.array(
        [not UNRESOLVABLE_REASONS.isdisjoint(texts) for texts in cluster.reasons.texts], np.bool_
    )
    return np.flatnonzero(~hopeless[failed])


def _dry_run(pod: PodState, view: View, queue: SchedulingQueue, profile: Profile) -> list[Candidate]:
    """Find the victims on every row (core.selectVictimsOnNode), all rows side by side."""
    lower = [
        [other for other in view.cluster.residents[view.node(row)].values() if other.priority < pod.priority]
        for row in range(view.size)
    ]
    everywhere = [(row, other) for row, pods in enumerate(lower) for other in pods]
    view.change([row for row, _ in everywhere], [other for _, other in everywhere], -1)
    fits = FitCheck(pod, view, queue, profile)
    rows = np.flatnonzero(fits()).tolist()
    names = view.columns.names
    candidates = {row: Candidate(names[view.node(row)]) for row in rows}
    plans = [(row, *_reprieve_order(lower[row], view.cluster)) for row in rows]
    for turn in range(max((len(pods) for _, pods, _ in plans), default=0)):
        plans = [plan for plan in plans if turn < len(plan[1])]
        view.change([row for row, _, _ in plans], [pods[turn] for _, pods, _ in plans], 1)
        still = fits()
        refused = [plan for plan in plans if not still[plan[0]]]
        view.change([row for row, _, _ in refused], [pods[turn] for _, pods, _ in refused], -1)
        for row, pods, violating in refused:
            candidates[row].victims.append(pods[turn])
            candidates[row].violations += turn < violating
    return list(candidates.values())


def _reprieve_order(pods: list[PodState], cluster: Cluster) -> tuple[list[PodState], int]:
    """Order the pods to put back: those that violate a budget first, then by priority and creation.

    Returns them with the number of those that violate one.
    """
    ordered = sorted(pods, key=lambda pod: (-pod.priority, pod.order))
    violating = [pod for pod in ordered if violates_budget(pod, cluster)] if cluster.budgets else []
    if not violating:
        return ordered, 0
    return [*violating, *(pod for pod in ordered if pod not in violating)], len(violating)


@quirk("disruptions-not-counted-down")
def violates_budget(pod: PodState, cluster: Cluster) -> bool:
    """Tell whether deleting the pod violates a budget; allowances are not counted down."""
    if not pod.info.labels:
        return False
    for budget in cluster.budgets.values():
        if budget.meta.namespace != pod.info.namespace or budget.disruptions_allowed > 0:
            continue
        selector = compile_selector(budget.selector)
        if selector and matches(selector, pod.info.labels):
            return True
    return False


def pick_node(candidates: list[Candidate]) -> tuple[Candidate, list[str]]:
    """Choose by the criteria in turn until one is left (core.pickOneNodeForPreemption).

    Returns the choice and the names of all that are equal on every criterion, sorted.
    """
    free = [c for c in candidates if not c.victims]
    if free:
        chosen = min(free, key=lambda c: c.node)
        return chosen, [chosen.node]
    left = candidates
    for criterion in (_violations, _first_priority, _priority_sum, _victim_count):
        values = [criterion(c) for c in left]
        best = min(values)
        left = [c for c, value in zip(left, values) if value == best]
        if len(left) == 1:
            break
    left = sorted(left, key=lambda c: c.node)
    return left[0], [c.node for c in left]


def _violations(candidate: Candidate) -> int:
    return candidate.violations


@quirk("first-victim-priority")
def _first_priority(candidate: Candidate) -> int:
    """Return the first victim's priority, which is not always the highest."""
    return candidate.victims[0].priority


def _priority_sum(candidate: Candidate) -> int:
    return sum(pod.priority + PRIORITY_OFFSET for pod in candidate.victims)


def _victim_count(candidate: Candidate) -> int:
    return len(candidate.victims)
