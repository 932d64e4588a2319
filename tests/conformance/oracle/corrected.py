"""The oracle with v1.11's quirks fixed: what the documentation promises, in the same plain manner."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.conformance.oracle import Oracle
from tests.conformance.oracle.manifests import (
    Manifest,
    allocatable,
    empty,
    host_ports,
    includes,
    is_scalar,
    key,
    labels,
    name,
    namespace,
    priority,
    request,
    selects,
    term_matches,
    terms,
    used,
)


def together(a: Manifest, b: Manifest, topology: str) -> bool:
    return topology in labels(a) and topology in labels(b) and labels(a)[topology] == labels(b)[topology]


class FixedOracle(Oracle):
    """Overrides what a row of the table of quirks is about, and nothing else."""

    def _configure(self, policy: Manifest) -> None:
        super()._configure(policy)
        listed = [p["name"] for p in policy.get("predicates") or []]
        self.order += [n for n in listed if n not in self.order]

    def _PodFitsResources(self, pod: Manifest, node: Manifest, added: list[Manifest]) -> list[str]:
        there = self.on[name(node)] + added
        have, taken, wants = allocatable(node), used(there), request(pod)
        checked = [r for r in ("cpu", "memory", "ephemeral-storage") if wants.get(r)]
        checked += sorted(r for r in wants if is_scalar(r) and wants[r])
        found = ["Insufficient pods"] if len(there) + 1 > have.get("pods", 0) else []
        return found + [f"Insufficient {r}" for r in checked if have.get(r, 0) < wants[r] + taken[r]]

    def _PodFitsHostPorts(self, pod: Manifest, node: Manifest, added: list[Manifest]) -> list[str]:
        for q in self.on[name(node)] + added:
            for other_ip, other_protocol, other in host_ports(q):
                for ip, protocol, port in host_ports(pod):
                    anywhere = "0.0.0.0" in (ip, other_ip)
                    if (protocol, port) == (other_protocol, other) and (anywhere or ip == other_ip):
                        return ["node(s) didn't have free ports for the requested pod ports"]
        return []

    _PodFitsPorts = _PodFitsHostPorts

    def service_affinity(
        self, wanted: list[str], pod: Manifest, node: Manifest, added: list[Manifest]
    ) -> tuple[list[str], str | None]:
        for q in added:
            self.where[key(q)] = name(node)
        try:
            return super().service_affinity(wanted, pod, node, added)
        finally:
            for q in added:
                del self.where[key(q)]

    def volume_count(
        self, predicate: str, pod: Manifest, node: Manifest, added: list[Manifest]
    ) -> tuple[list[str], str | None]:
        mine = self.counted_volumes(predicate, [pod])
        if mine <= self.counted_volumes(predicate, self.on[name(node)] + added):
            return [], None
        return super().volume_count(predicate, pod, node, added)

    def _MatchInterPodAffinity(self, pod: Manifest, node: Manifest, added: list[Manifest]) -> list[str]:
        general = "node(s) didn't match pod affinity/anti-affinity"
        standing = [*self._standing(node, added), *((q, node) for q in added)]
        for other, home in standing:
            for t in terms(other, "podAntiAffinity", "required"):
                if term_matches(other, t, pod) and together(node, home, t["topologyKey"]):
                    return [general, "node(s) didn't satisfy existing pods anti-affinity rules"]
        wanted = terms(pod, "podAffinity", "required")
        matching = [(p, h) for p, h in standing if all(term_matches(pod, t, p) for t in wanted)]
        if wanted and not any(all(together(node, h, t["topologyKey"]) for t in wanted) for _, h in matching):
            first = not matching and all(term_matches(pod, t, pod) for t in wanted)
            if not first or any(t["topologyKey"] not in labels(node) for t in wanted):
                return [general, "node(s) didn't match pod affinity rules"]
        for t in terms(pod, "podAntiAffinity", "required"):
            if any(term_matches(pod, t, p) and together(node, h, t["topologyKey"]) for p, h in standing):
                return [general, "node(s) didn't match pod anti-affinity rules"]
        return []

    def _ServiceSpreadingPriority(self, pod: Manifest, node: Manifest) -> int:
        found = [
            s["spec"]["selector"]
            for s in self.services
            if namespace(s) == namespace(pod)
            and (s.get("spec") or {}).get("selector") is not None
            and includes(labels(pod), s["spec"]["selector"])
        ]
        return sum(
            namespace(q) == namespace(pod)
            and not q["metadata"].get("deletionTimestamp")
            and any(includes(labels(q), selector) for selector in found)
            for q in self.on[name(node)]
        )

    def scaled(self, sums: dict[str, int]) -> dict[str, int]:
        high, low = max(sums.values()), min(sums.values())
        return {n: int(10.0 * ((c - low) / (high - low))) if high > low else 0 for n, c in sums.items()}

    def violating(self, pods: list[Manifest]) -> list[Manifest]:
        left: Counter[Any] = Counter(
            {name(b): (b.get("status") or {}).get("disruptionsAllowed") or 0 for b in self.pdbs}
        )
        found = []
        for q in pods:
            meant = [
                b
                for b in self.pdbs
                if labels(q)
                and namespace(b) == namespace(q)
                and not empty(b["spec"].get("selector"))
                and selects(b["spec"]["selector"], labels(q))
            ]
            for b in meant:
                left[name(b)] -= 1
            if any(left[name(b)] < 0 for b in meant):
                found.append(q)
        return found

    def victim_priority(self, victims: list[Manifest]) -> int:
        return max(map(priority, victims))
