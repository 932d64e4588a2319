"""The CP-SAT model of a problem: how many pods of each class each node gets, and the hard rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from scheduler_core.compare.optimum.problem import (
    InterchangeablePods,
    PackingProblem,
    SpreadLimit,
    ports_conflict,
    selects,
)
from scheduler_core.kubernetes.model import Pod
from scheduler_core.kubernetes.selectors import matches

HOSTNAME = "kubernetes.io/hostname"
THOUSAND = 1_000
Expression = Any  # of OR-Tools, which ships no types


class Model:
    """Variables and rules. ``x[class][node]`` is a number of pods, of the nodes that a class may use."""

    def __init__(self, problem: PackingProblem) -> None:
        from ortools.sat.python import cp_model  # takes a second

        self.problem = problem
        self.cp: Any = cp_model.CpModel()
        self.x: list[dict[int, Expression]] = [
            self._counts(place, of) for place, of in enumerate(problem.classes)
        ]
        self._held: dict[tuple[int, str, str], Expression] = {}
        for of, counts in zip(problem.classes, self.x):
            self.cp.add(sum(counts.values()) <= len(of.pods))
            self.cp.add(sum(counts.values()) >= of.bound)
        self._resources()
        self._evictions()
        for place, of in enumerate(problem.classes):
            self._ports(place, of)
            self._anti_affinity(place, of)
            self._affinity(place, of)
            for spread in of.spreads:
                self._spread(place, of, spread)

    def _counts(self, place: int, of: InterchangeablePods) -> dict[int, Expression]:
        return {
            node: self.cp.new_int_var(0, min(len(of.pods), most), f"x{place},{node}")
            for node in sorted(of.nodes)
            if (most := _most(of, self.problem.free[node])) > 0
        }

    @cached_property
    def placed(self) -> Expression:
        """The number of pods placed, less those that run already or are evicted."""
        running = sum(of.running for of in self.problem.classes)
        return sum(count for counts in self.x for count in counts.values()) - running

    def used(self, node: int, resource: str) -> Expression:
        """What the classes use of a node's resource."""
        return sum(
            of.request[resource] * counts[node]
            for of, counts in zip(self.problem.classes, self.x)
            if resource in of.request and node in counts
        )

    def _resources(self) -> None:
        names = {name for of in self.problem.classes for name in of.request}
        for node, free in enumerate(self.problem.free):
            for name in sorted(names):
                self.cp.add(self.used(node, name) <= max(free.get(name, 0), 0))

    def _evictions(self) -> None:
        """Let pods be evicted from a node only where a pending one of higher priority takes their room."""
        names = [node.meta.name for node in self.problem.nodes]
        for of, counts in zip(self.problem.classes, self.x):
            if not of.evictable:
                continue
            above = [
                placed
                for other, placed in zip(self.problem.classes, self.x)
                if other.preempts and other.first.priority > of.first.priority
            ]
            if len(of.nodes) > 1:  # they may move as well: anywhere
                takers = sum(count for placed in above for count in placed.values())
                self.cp.add(of.running - sum(counts.values()) <= of.running * takers)
                continue
            for name, there in of.home.items():
                node = names.index(name)
                takers = sum(placed[node] for placed in above if node in placed)
                self.cp.add(there - counts.get(node, 0) <= there * takers)

    def holds(self, place: int, key: str, domain: str, nodes: Iterable[int]) -> Expression:
        """Return a Boolean: whether a domain has a pod of a class."""
        name = place, key, domain
        if name not in self._held:
            total = sum(self.x[place][node] for node in nodes if node in self.x[place])
            held = self.cp.new_bool_var(f"h{place},{key},{domain}")
            self.cp.add(total <= len(self.problem.classes[place].pods) * held)
            self.cp.add(total >= held)
            self._held[name] = held
        return self._held[name]

    def _domains(self, key: str) -> dict[str, list[int]]:
        if key == HOSTNAME:
            found = self.problem.domains(key)
            return found or {node.meta.name: [at] for at, node in enumerate(self.problem.nodes)}
        return self.problem.domains(key)

    def _forbid(self, place: int, nodes: Iterable[int]) -> None:
        for node in nodes:
            if node in self.x[place]:
                self.cp.add(self.x[place][node] == 0)

    def _apart(self, one: int, other: int, key: str, domains: dict[str, list[int]]) -> None:
        """Let no domain have pods of both classes, or two of one."""
        for domain, nodes in domains.items():
            if one == other:
                self.cp.add(sum(self.x[one][node] for node in nodes if node in self.x[one]) <= 1)
            else:
                self.cp.add(self.holds(one, key, domain, nodes) + self.holds(other, key, domain, nodes) <= 1)

    def _ports(self, place: int, of: InterchangeablePods) -> None:
        single = {str(node): [node] for node in range(len(self.problem.nodes))}
        for other in range(place, len(self.problem.classes)):
            if ports_conflict(of.first, self.problem.classes[other].first):
                self._apart(place, other, "", single)
        self._forbid(place, [node for pod, node in self.problem.fixed if ports_conflict(of.first, pod)])

    def _anti_affinity(self, place: int, of: InterchangeablePods) -> None:
        """Required terms of the class, and those of fixed pods that select it."""
        for term in of.first.affinity.anti_required if of.first.affinity else ():
            domains = self._domains(term.topology_key)
            for other, one in enumerate(self.problem.classes):
                if selects(term, of.first, one.first):
                    self._apart(place, other, term.topology_key, domains)
            for pod, node in self.problem.fixed:
                if selects(term, of.first, pod):
                    self._forbid(place, _around(node, domains))
        for pod, node in self.problem.fixed:
            for term in pod.affinity.anti_required if pod.affinity else ():
                if selects(term, pod, of.first):
                    self._forbid(place, _around(node, self._domains(term.topology_key)))

    def _affinity(self, place: int, of: InterchangeablePods) -> None:
        """Each required term: a pod that all terms select is in the domain.

        Where there is none at all, a class that selects itself may begin in one domain.
        """
        terms = of.first.affinity.pod_required if of.first.affinity else ()
        if not terms:
            return

        def selected(pod: Pod) -> bool:
            return all(selects(term, of.first, pod) for term in terms)

        fixed = [node for pod, node in self.problem.fixed if selected(pod)]
        others = [
            number
            for number, one in enumerate(self.problem.classes)
            if number != place and selected(one.first)
        ]
        begins = selected(of.first) and not fixed
        for term in terms:
            domains = self._domains(term.topology_key)
            keyed = {node for nodes in domains.values() for node in nodes}
            self._forbid(place, set(self.x[place]) - keyed)
            seeds = []
            for domain, nodes in domains.items():
                if any(node in nodes for node in fixed):
                    continue
                reasons = [self.holds(other, term.topology_key, domain, nodes) for other in others]
                if begins:
                    seeds.append(self.cp.new_bool_var(f"s{place},{term.topology_key},{domain}"))
                    reasons.append(seeds[-1])
                self.cp.add(self.holds(place, term.topology_key, domain, nodes) <= sum(reasons))
            if seeds:
                self.cp.add(sum(seeds) <= 1)

    def _spread(self, place: int, of: InterchangeablePods, spread: SpreadLimit) -> None:
        """A domain that has a pod of the class has at most ``skew`` more selected pods than the emptiest."""

        def selected(pod: Pod) -> bool:
            return pod.meta.namespace == of.first.meta.namespace and matches(spread.selector, pod.meta.labels)

        domains = self.problem.domains(spread.key)
        eligible = {
            domain: kept for domain, nodes in domains.items() if (kept := [n for n in nodes if n in of.nodes])
        }
        keyed = {node for nodes in domains.values() for node in nodes}
        self._forbid(place, set(self.x[place]) - keyed)
        totals = {domain: self._selected(nodes, selected) for domain, nodes in eligible.items()}
        if not totals:
            return
        most = sum(len(one.pods) for one in self.problem.classes) + len(self.problem.fixed)
        least = self.cp.new_int_var(0, most, f"m{place},{spread.key}")
        for total in totals.values():
            self.cp.add(least <= total)
        for domain, total in totals.items():
            held = self.holds(place, spread.key, domain, domains[domain])
            self.cp.add(total <= least + spread.skew).only_enforce_if(held)

    def _selected(self, nodes: Sequence[int], selected: Any) -> Expression:
        """Return how many selected pods nodes have."""
        fixed = sum(node in nodes and selected(pod) for pod, node in self.problem.fixed)
        return fixed + sum(
            counts[node]
            for one, counts in zip(self.problem.classes, self.x)
            if selected(one.first)
            for node in nodes
            if node in counts
        )


def _most(of: InterchangeablePods, free: Any) -> int:
    """Return how many pods of a class fit a node by itself."""
    return min(max(int(free.get(name, 0)), 0) // amount for name, amount in of.request.items())


def _around(node: int, domains: dict[str, list[int]]) -> list[int]:
    """Return the nodes in the domain of a node, none without one."""
    return next((nodes for nodes in domains.values() if node in nodes), [])
