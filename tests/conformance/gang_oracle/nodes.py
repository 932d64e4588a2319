"""Nodes as the whole scheduler sees them: simple predicates, the two scores that matter, preemption."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from tests.conformance.gang_oracle.reader import (
    Manifest,
    Record,
    counted_by_nodes,
    key,
    left,
    node_name,
    priority,
    requests,
    started,
    whole,
)

NOT_YET = datetime(9000, 1, 1, tzinfo=UTC)


class Cluster:
    """Where the pods are (bound or assumed), and which node a preemptor waits for."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.placed = [p for p in record.pods if node_name(p) in record.nodes]
        self.deleted: set[str] = set()
        self.asked = NOT_YET
        self.nominated: dict[str, tuple[Manifest, str]] = {}
        self.noted: dict[str, tuple[Manifest, str]] = {}  # as the pods' status says, until it is cleared

    def gone(self, pod: Manifest) -> bool:
        return key(pod) in self.deleted

    def place(self, pod: Manifest, node: str) -> None:
        self.placed.append({**pod, "spec": {**pod["spec"], "nodeName": node}})
        self.nominated.pop(key(pod), None)

    def take_off(self, name: str) -> None:
        self.placed = [p for p in self.placed if key(p) != name]

    def delete(self, name: str) -> None:
        self.take_off(name)
        self.deleted.add(name)
        self.nominated.pop(name, None)
        self.noted.pop(name, None)

    def as_record(self, placed: list[Manifest]) -> Record:
        """Return a record with these pods on the nodes, for the cluster resource check."""
        made = object.__new__(Record)
        made.__dict__.update(self.record.__dict__)
        made.pods = placed
        return made

    def nominate(self, pod: Manifest, node: str) -> None:
        lower = [n for n, (p, at) in self.nominated.items() if at == node and priority(p) < priority(pod)]
        for name in lower:
            del self.nominated[name]
            self.noted.pop(name)
        self.nominated[key(pod)] = self.noted[key(pod)] = (pod, node)

    def queued_again(self, name: str) -> None:
        """Count a nomination again that its status still tells."""
        if name in self.noted:
            self.nominated[name] = self.noted[name]

    # Predicates

    def fits(self, pod: Manifest, node: str, there: list[Manifest]) -> bool:
        ahead = [p for p, at in self.nominated.values()
                 if at == node and key(p) != key(pod) and priority(p) >= priority(pod)]  # fmt: skip
        return self.has_room(pod, node, there) and (not ahead or self.has_room(pod, node, there + ahead))

    def has_room(self, pod: Manifest, node: str, there: list[Manifest]) -> bool:
        free = left(self.record.nodes[node], there)
        if free["pods"] < 1:
            return False
        return all(
            free.get(name, Fraction(0)) >= amount
            for name, amount in requests(pod).items()
            if name != "pods" and (amount > 0 or name in {"cpu", "memory"}) and counted_by_nodes(name)
        )

    def closed(self, pod: Manifest, node: str) -> str:
        """Name the plugin that keeps a pod off a node whatever pods are there, if one does."""
        spec = self.record.nodes[node].get("spec") or {}
        if spec.get("unschedulable"):
            return "NodeUnschedulable"
        repelled = any(t.get("effect") in {"NoSchedule", "NoExecute"} for t in spec.get("taints") or [])
        return "TaintToleration" if repelled and not pod["spec"].get("tolerations") else ""

    def filter(self, pod: Manifest, placed: list[Manifest]) -> tuple[list[str], set[str], dict[str, bool]]:
        """Return the nodes that fit, the plugins that failed, and for each other node if room would help."""
        fits, reasons, helpful = [], set(), {}
        for node in self.record.nodes:
            closed = self.closed(pod, node)
            if closed:
                reasons.add(closed)
                helpful[node] = False
            elif self.fits(pod, node, [p for p in placed if node_name(p) == node]):
                fits.append(node)
            else:
                reasons.add("NodeResourcesFit")
                helpful[node] = True
        return fits, reasons, helpful

    def best(self, pod: Manifest, fits: list[str], placed: list[Manifest], dice: random.Random) -> str:
        """Choose the least allocated node, and the most balanced; equals by luck."""
        scores = {n: self.score(pod, n, [p for p in placed if node_name(p) == n]) for n in fits}
        return dice.choice([n for n in fits if scores[n] == max(scores.values())])

    def score(self, pod: Manifest, node: str, there: list[Manifest]) -> int:
        allocatable = self.record.nodes[node]["status"].get("allocatable") or {}
        parts, shares = [], []
        for name, default in (("cpu", Fraction(1, 10)), ("memory", Fraction(200 * 2**20))):
            has = whole(name, allocatable.get(name, 0))
            used = sum((requests(p).get(name, default) for p in [*there, pod]), Fraction(0))
            parts.append(int((has - used) * 100 / has) if has and used <= has else 0)
            shares.append(used / has if has else Fraction(1))
        balanced = 0 if max(shares) >= 1 else int((1 - abs(shares[0] - shares[1])) * 100)
        return sum(parts) // 2 + balanced

    # Preemption

    def preempt(
        self, pod: Manifest, placed: list[Manifest], nodes: list[str]
    ) -> tuple[str, list[str]] | None:
        """Return a node and who has to leave it, or nothing."""
        found: dict[str, list[Manifest]] = {}
        for node in nodes:
            there = [p for p in placed if node_name(p) == node]
            lower = [p for p in there if priority(p) < priority(pod)]
            kept = [p for p in there if p not in lower]
            if not lower or self.closed(pod, node) or not self.fits(pod, node, kept):
                continue
            victims = []
            for p in self.by_importance(lower):
                if self.fits(pod, node, [*kept, p]):
                    kept.append(p)
                else:
                    victims.append(p)
            if victims:
                found[node] = victims
        if not found:
            return None
        node = min(found, key=lambda n: (
            max(priority(p) for p in found[n]), sum(priority(p) + 2**31 for p in found[n]), len(found[n]),
            -self.earliest(found[n]).timestamp(),
        ))  # fmt: skip
        return node, [key(p) for p in found[node]]

    def start(self, pod: Manifest) -> datetime:
        """Return when a pod started; who asks of one that has not gets the time, which passes."""
        self.asked += timedelta(microseconds=1)
        return started(pod) or self.asked

    def by_importance(self, pods: list[Manifest]) -> list[Manifest]:
        """Sort as Go sorts a dozen: one after another is moved ahead while it is more important."""
        found: list[Manifest] = []
        for pod in pods:
            place = len(found)
            while place and self.more_important(pod, found[place - 1]):
                place -= 1
            found.insert(place, pod)
        return found

    def more_important(self, one: Manifest, other: Manifest) -> bool:
        if priority(one) != priority(other):
            return priority(one) > priority(other)
        return self.start(one) < self.start(other)

    def earliest(self, victims: list[Manifest]) -> datetime:
        """Return the first start among the most important; equal are those that have not started."""
        highest = max(priority(p) for p in victims)
        return min(started(p) or NOT_YET for p in victims if priority(p) == highest)
