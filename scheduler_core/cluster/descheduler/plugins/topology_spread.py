"""RemovePodsViolatingTopologySpreadConstraint: pods in domains with more of them than maxSkew allows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

from msgspec import Struct

from scheduler_core.cluster.descheduler.arguments import (
    SCOPE_FIELDS,
    TEXTS,
    InvalidArguments,
    PodScope,
    args_reader,
    check_scope,
)
from scheduler_core.cluster.descheduler.eviction import NODE_LIMIT
from scheduler_core.cluster.descheduler.facts import NodeFacts, PodFacts
from scheduler_core.cluster.descheduler.node_fit import fits_any_other
from scheduler_core.cluster.descheduler.record import NO_TARGET
from scheduler_core.cluster.descheduler.strategy import BALANCE, Strategy, StrategyContext
from scheduler_core.cluster.v1_37.objects import selects
from scheduler_core.kubernetes.readers import Field, boolean

HONOR = "Honor"
CONSTRAINTS = ("DoNotSchedule", "ScheduleAnyway")


class RemovePodsViolatingTopologySpreadConstraintArgs(PodScope, frozen=True, kw_only=True):
    """RemovePodsViolatingTopologySpreadConstraintArgs."""

    constraints: tuple[str, ...] = ()
    node_fit: bool = True

    @property
    def effective(self) -> tuple[str, ...]:
        """The kinds of constraints that count; hard ones where none are given."""
        return self.constraints or CONSTRAINTS[:1]


class Constraint(Struct):
    """One constraint, and the pod whose affinity and tolerations say which nodes count."""

    pod: PodFacts
    skew: int
    topology_key: str
    selector: Mapping[str, Any] | None
    fixed_labels: Mapping[str, str]
    affinity_policy: str
    taints_policy: str

    def key(self) -> str:
        """Return a text that is equal for identical constraints."""
        parts = [self.skew, self.topology_key, self.selector, self.fixed_labels, self.affinity_policy]
        if self.affinity_policy == HONOR:
            parts += [self.pod.spec.get("nodeSelector"), self.pod.node_affinity]
        parts += [self.taints_policy, self.pod.tolerations if self.taints_policy == HONOR else None]
        return json.dumps(parts, sort_keys=True)

    def counts(self, pod: PodFacts) -> bool:
        """Return whether a pod is one of those to spread."""
        kept = all(pod.labels.get(key) == value for key, value in self.fixed_labels.items())
        return kept and not pod.is_terminating and selects(self.selector, pod.labels)

    def includes(self, node: NodeFacts) -> bool:
        """Return whether a node's domain counts (matchNodeInclusionPolicies)."""
        if self.affinity_policy == HONOR and not self.pod.selects(node):
            return False
        return self.taints_policy != HONOR or self.pod.tolerates(node.hard_taints)


def constraint_of(pod: PodFacts, written: Mapping[str, Any]) -> Constraint:
    """Read a pod's constraint; ``matchLabelKeys`` take the pod's own values."""
    keys = [key for key in written.get("matchLabelKeys") or () if key in pod.labels]
    return Constraint(
        pod,
        written.get("maxSkew") or 0,
        written.get("topologyKey") or "",
        written.get("labelSelector"),
        {key: pod.labels[key] for key in keys},
        written.get("nodeAffinityPolicy") or HONOR,
        written.get("nodeTaintsPolicy") or "Ignore",
    )


class TopologyDomain(Struct):
    """A value of the topology key, and the pods in it, the first to go last."""

    value: str
    pods: list[PodFacts]


def run(context: StrategyContext, args: RemovePodsViolatingTopologySpreadConstraintArgs) -> None:
    """Find who has to leave for every constraint of every namespace, then evict them."""
    by_namespace: dict[str, list[PodFacts]] = {}
    for node in context.nodes:
        for pod in context.listing.pods_on(node.name):
            if args.has(pod) and _unprotected(context, pod):
                by_namespace.setdefault(pod.namespace, []).append(pod)
    leaving: dict[str, tuple[PodFacts, str]] = {}
    for pods in by_namespace.values():
        for constraint in _constraints(pods, args):
            _balance(context, args, constraint, pods, leaving)
    full: set[str] = set()
    for pod, reason in leaving.values():
        if pod.node in full or not context.admits(pod):
            continue
        if context.evict(pod, reason) == NODE_LIMIT:
            full.add(pod.node)


def _unprotected(context: StrategyContext, pod: PodFacts) -> bool:
    """Return whether the filter passes a pod; why not is recorded of pods with constraints."""
    if pod.spec.get("topologySpreadConstraints"):
        return context.unprotected(pod)
    return not context.filters.protection(pod)


def _constraints(
    pods: list[PodFacts], args: RemovePodsViolatingTopologySpreadConstraintArgs
) -> list[Constraint]:
    found = (
        constraint_of(pod, one)
        for pod in pods
        for one in pod.spec.get("topologySpreadConstraints") or ()
        if one.get("whenUnsatisfiable") in args.effective
    )
    distinct: dict[str, Constraint] = {}
    for one in found:
        distinct.setdefault(one.key(), one)
    return list(distinct.values())


def _domains(context: StrategyContext, constraint: Constraint, pods: list[PodFacts]) -> list[TopologyDomain]:
    """Return the domains from the smallest to the largest, empty ones included (sortDomains)."""
    values = {node.name: node.labels.get(constraint.topology_key) for node in context.nodes}
    by_value: dict[str, list[PodFacts]] = {}
    for node in context.nodes:
        value = values[node.name]
        if value is not None and constraint.includes(node):
            by_value.setdefault(value, [])
    for pod in pods:
        value = values[pod.node]
        if value is not None and constraint.counts(pod):
            by_value.setdefault(value, []).append(pod)
    domains = [TopologyDomain(value, sorted(found, key=_staying)) for value, found in by_value.items()]
    return sorted(domains, key=lambda one: (len(one.pods), one.value))


def _staying(pod: PodFacts) -> tuple[bool, int]:
    """Return the key that sorts those first that stay longest: with a selector, then of low priority."""
    free = pod.spec.get("nodeSelector") is None and not pod.node_affinity
    return free, -(2**31) - 1 if pod.priority is None else pod.priority


def _balance(
    context: StrategyContext,
    args: RemovePodsViolatingTopologySpreadConstraintArgs,
    constraint: Constraint,
    pods: list[PodFacts],
    leaving: dict[str, tuple[PodFacts, str]],
) -> None:
    """Take pods from the largest domains as if they went to the smallest (balanceDomains)."""
    domains = _domains(context, constraint, pods)
    if not domains or len(domains[-1].pods) - len(domains[0].pods) <= constraint.skew:
        return
    average = sum(len(one.pods) for one in domains) / len(domains)
    few = {one.value for one in domains if len(one.pods) < average}
    below = [
        node
        for node in context.nodes
        if node.labels.get(constraint.topology_key) in few and constraint.includes(node)
    ]
    for pod, reason in _moved(context, constraint, domains, average, below):
        if args.node_fit and not fits_any_other(context.listing, pod, below):
            context.evictions.note(pod, NO_TARGET, f"{reason}; it fits no node of a smaller domain")
        else:
            leaving.setdefault(pod.key, (pod, reason))


def _moved(
    context: StrategyContext,
    constraint: Constraint,
    domains: list[TopologyDomain],
    average: float,
    below: list[NodeFacts],
) -> Iterator[tuple[PodFacts, str]]:
    """Yield the pods to move, until the domains differ by no more than the skew."""
    smallest, largest = 0, len(domains) - 1
    while smallest < largest:
        if len(domains[largest].pods) <= average:
            largest -= 1
        low, high = domains[smallest], domains[largest]
        count = _movable(len(low.pods), len(high.pods), average, constraint.skew)
        if count <= 0:
            smallest += 1
            continue
        high.pods.sort(key=lambda pod: fits_any_other(context.listing, pod, below))
        moved = high.pods[-count:]
        sizes = f"{high.value} has {len(high.pods)} pods, {low.value} has {len(low.pods)}"
        reason = f"{constraint.topology_key}: {sizes}, maxSkew is {constraint.skew}"
        yield from ((pod, reason) for pod in moved)
        del high.pods[-count:]
        low.pods.extend(moved)


def _movable(low: int, high: int, average: float, most_skew: int) -> int:
    """Return how many pods to move: at most half the excess skew, and neither domain beyond the average."""
    skew = high - low
    if skew <= most_skew:
        return 0
    return min(ceil(high - average), ceil(average - low), ceil((skew - most_skew) / 2))


def _check(args: RemovePodsViolatingTopologySpreadConstraintArgs) -> Iterator[InvalidArguments]:
    yield from check_scope(args)
    for place, one in enumerate(args.constraints):
        if one not in CONSTRAINTS:
            text = f"constraint {one} is not one of map[DoNotSchedule:{{}} ScheduleAnyway:{{}}]"
            yield InvalidArguments(text, f"constraints[{place}]", f"write {' or '.join(CONSTRAINTS)}")


STRATEGY = Strategy(
    name="RemovePodsViolatingTopologySpreadConstraint",
    point=BALANCE,
    words="evicts pods from topology domains that exceed others by more than maxSkew",
    args=args_reader(
        RemovePodsViolatingTopologySpreadConstraintArgs,
        {
            **SCOPE_FIELDS,
            "constraints": Field("constraints", TEXTS),
            "topologyBalanceNodeFit": Field("node_fit", boolean),
        },
    ),
    defaults={"constraints": ["DoNotSchedule"], "topologyBalanceNodeFit": True},
    check=_check,
    run=run,
)
