"""Who would have to go: dry runs, and the criteria that pick a node."""

from __future__ import annotations

from tests.conformance.oracle.filters import Filtering
from tests.conformance.oracle.manifests import (
    Manifest,
    empty,
    host_ports,
    key,
    labels,
    name,
    namespace,
    priority,
    selects,
)

UNRESOLVABLE = {
    "node(s) didn't match node selector",
    "node(s) didn't match the requested hostname",
    "node(s) had taints that the pod didn't tolerate",
    "node(s) didn't have the requested labels",
    "node(s) were not ready",
    "node(s) had unavailable network",
    "node(s) were unschedulable",
    "node(s) had no available volume zone",
    "node(s) had volume node affinity conflict",
    "node(s) didn't find available persistent volumes to bind",
}


class Preemption(Filtering):
    """Preemption of section 6."""

    def preempt(self, pod: Manifest, failed: dict[str, list[str]]) -> Manifest:
        outcome: Manifest = {
            "eligible": True, "potentialNodes": [], "candidates": {}, "node": None, "ties": [],
            "victims": [], "clearedNominations": [],
        }  # fmt: skip
        nomination = self.nominated.get(key(pod))
        if nomination and any(
            q["metadata"].get("deletionTimestamp") and priority(q) < priority(pod)
            for q in self.on.get(nomination, [])
        ):
            return outcome | {"eligible": False}
        potential = [n for n in self.nodes if not UNRESOLVABLE & set(failed[name(n)])]
        outcome["potentialNodes"] = [name(n) for n in potential]
        if not potential:
            if self.nominated.pop(key(pod), None):
                outcome["clearedNominations"] = [key(pod)]
            return outcome
        candidates = {}
        for n in potential:
            found = self.dry_run(pod, n)
            if found is not None:
                candidates[name(n)] = found
        outcome["candidates"] = {
            n: {"victims": [key(v) for v in victims], "pdbViolations": broken}
            for n, (victims, broken) in candidates.items()
        }
        if not candidates:
            return outcome
        ties = self.pick(candidates)
        chosen = ties[0]
        outcome |= {"node": chosen, "ties": ties, "victims": [key(v) for v in candidates[chosen][0]]}
        cleared = [
            q for q in self.waiting if self.nominated.get(key(q)) == chosen and priority(q) < priority(pod)
        ]
        outcome["clearedNominations"] = sorted((key(q) for q in cleared), key=self.age.__getitem__)
        for q in cleared:
            del self.nominated[key(q)]
        self.nominated[key(pod)] = chosen
        return outcome

    def dry_run(self, pod: Manifest, node: Manifest) -> tuple[list[Manifest], int] | None:
        before, ports = list(self.on[name(node)]), set(self.ports[name(node)])
        lower = [q for q in before if priority(q) < priority(pod)]
        gone: list[Manifest] = list(lower)
        back: list[Manifest] = []
        self.on[name(node)] = [q for q in before if priority(q) >= priority(pod)]
        for q in lower:
            self.ports[name(node)] -= host_ports(q)
        self.simulated = (gone, back)
        try:
            if not self._fits_now(pod, node):
                return None
            lower.sort(key=lambda q: (-priority(q), self.age[key(q)]))
            violating = self.violating(lower)
            others = [q for q in lower if q not in violating]
            victims, broken = [], 0
            for q in violating + others:
                self.on[name(node)].append(q)
                back.append(q)
                self.ports[name(node)] |= host_ports(q)
                if not self._fits_now(pod, node):
                    self.on[name(node)].remove(q)
                    back.remove(q)
                    self.ports[name(node)] -= host_ports(q)
                    victims.append(q)
                    broken += q in violating
            return victims, broken
        finally:
            self.on[name(node)], self.ports[name(node)] = before, ports
            self.simulated = ([], [])

    def _fits_now(self, pod: Manifest, node: Manifest) -> bool:
        reasons, error = self.fits(pod, node, check_all=False)
        return not reasons and error is None

    def violating(self, pods: list[Manifest]) -> list[Manifest]:
        return [q for q in pods if self.protected(q)]

    def victim_priority(self, victims: list[Manifest]) -> int:
        return priority(victims[0])

    def protected(self, pod: Manifest) -> bool:
        return bool(labels(pod)) and any(
            namespace(b) == namespace(pod)
            and not empty(b["spec"].get("selector"))
            and selects(b["spec"]["selector"], labels(pod))
            and ((b.get("status") or {}).get("disruptionsAllowed") or 0) <= 0
            for b in self.pdbs
        )

    def pick(self, candidates: dict[str, tuple[list[Manifest], int]]) -> list[str]:
        free = sorted(n for n, (victims, _) in candidates.items() if not victims)
        if free:
            return free[:1]
        criteria = (
            lambda n: candidates[n][1],
            lambda n: self.victim_priority(candidates[n][0]),
            lambda n: sum(priority(v) + 2147483648 for v in candidates[n][0]),
            lambda n: len(candidates[n][0]),
        )
        left = sorted(candidates)
        for criterion in criteria:
            best = min(map(criterion, left))
            left = [n for n in left if criterion(n) == best]
            if len(left) == 1:
                break
        return left
