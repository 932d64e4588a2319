"""How well a feasible node suits: the priorities one by one."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from tests.conformance.oracle.cluster import Cluster
from tests.conformance.oracle.manifests import (
    MEBI,
    Manifest,
    allocatable,
    empty,
    includes,
    key,
    labels,
    limits,
    name,
    namespace,
    node_term,
    non_zero,
    selects,
    term_matches,
    terms,
    tolerated,
)

ZONE = "failure-domain.beta.kubernetes.io/zone"
REGION = "failure-domain.beta.kubernetes.io/region"


class Scoring(Cluster):
    """Every priority as a method of its name."""

    def rank(self, pod: Manifest, nodes: list[Manifest]) -> tuple[Manifest, dict[str, int]]:
        shown: Manifest = {}
        totals = {name(n): 0 if self.priorities else 1 for n in nodes}
        for title, (weight, argument) in self.priorities.items():
            raw, score = self.score(title, argument, pod, nodes)
            shown[title] = {"weight": weight, "map": raw, "score": score}
            for n in totals:
                totals[n] += weight * score[n]
        return shown, totals

    def score(
        self, title: str, argument: Manifest, pod: Manifest, nodes: list[Manifest]
    ) -> tuple[dict[str, int] | None, dict[str, int]]:
        if title == "InterPodAffinityPriority":
            return None, self.inter_pod_affinity(pod, nodes)
        if "serviceAntiAffinity" in argument:
            return self.service_anti_affinity(argument["serviceAntiAffinity"]["label"], pod, nodes)
        if "labelPreference" in argument:
            wanted = argument["labelPreference"]
            raw = {
                name(n): 10 * ((wanted["label"] in labels(n)) == bool(wanted.get("presence"))) for n in nodes
            }
            return raw, raw
        if "requestedToCapacityRatioArguments" in argument or title == "RequestedToCapacityRatioPriority":
            shape = (argument.get("requestedToCapacityRatioArguments") or {}).get("shape")
            points = [(p["utilization"], p["score"]) for p in shape] if shape else [(0, 10), (100, 0)]
            raw = {name(n): self.by_request(pod, n, lambda r, c: curve(points, r, c)) for n in nodes}
            return raw, raw
        raw = {name(n): getattr(self, "_" + title)(pod, n) for n in nodes}
        reduce = getattr(self, f"_reduce_{title}", None)
        return raw, reduce(raw) if reduce else raw

    def by_request(self, pod: Manifest, node: Manifest, rate: Any) -> int:
        have = allocatable(node)
        total = [sum(x) for x in zip(*map(non_zero, [*self.on[name(node)], pod]), strict=True)]
        return (rate(total[0], have.get("cpu", 0)) + rate(total[1], have.get("memory", 0))) // 2

    def _LeastRequestedPriority(self, pod: Manifest, node: Manifest) -> int:
        return self.by_request(pod, node, lambda r, c: 0 if c == 0 or r > c else (c - r) * 10 // c)

    def _MostRequestedPriority(self, pod: Manifest, node: Manifest) -> int:
        return self.by_request(pod, node, lambda r, c: 0 if c == 0 or r > c else r * 10 // c)

    def _BalancedResourceAllocation(self, pod: Manifest, node: Manifest) -> int:
        have = allocatable(node)
        total = [sum(x) for x in zip(*map(non_zero, [*self.on[name(node)], pod]), strict=True)]
        fractions = [
            r / have[k] if have.get(k) else 1.0 for r, k in zip(total, ("cpu", "memory"), strict=True)
        ]
        if max(fractions) >= 1:
            return 0
        return int((1 - abs(fractions[0] - fractions[1])) * 10)

    def selectors(self, pod: Manifest) -> list[Any]:
        found: list[Any] = []
        for s in self.services:
            selector = (s.get("spec") or {}).get("selector")
            if namespace(s) == namespace(pod) and selector is not None and includes(labels(pod), selector):
                found.append({"matchLabels": selector})
        for c in self.controllers:
            selector = (c.get("spec") or {}).get("selector")
            if c["kind"] == "ReplicationController":
                selector = {"matchLabels": selector} if selector else None
            if (
                labels(pod)
                and namespace(c) == namespace(pod)
                and not empty(selector)
                and selects(selector, labels(pod))
            ):
                found.append(selector)
        return found

    def _SelectorSpreadPriority(self, pod: Manifest, node: Manifest) -> int:
        found = self.selectors(pod)
        return sum(
            namespace(q) == namespace(pod)
            and not q["metadata"].get("deletionTimestamp")
            and any(selects(s, labels(q)) for s in found)
            for q in self.on[name(node)]
        )

    _ServiceSpreadingPriority = _SelectorSpreadPriority

    def _reduce_SelectorSpreadPriority(self, raw: dict[str, int]) -> dict[str, int]:
        zones = {}
        for n in raw:
            pair = (labels(self.node[n]).get(REGION, ""), labels(self.node[n]).get(ZONE, ""))
            zones[n] = pair if any(pair) else None
        per_zone: Counter[Any] = Counter()
        for n, count in raw.items():
            if zones[n]:
                per_zone[zones[n]] += count
        most, most_in_zone = max(raw.values()), max(per_zone.values(), default=0)
        scores = {}
        for n, count in raw.items():
            score = 10.0 * ((most - count) / most) if most else 10.0
            if per_zone and zones[n]:
                zone = 10.0 * ((most_in_zone - per_zone[zones[n]]) / most_in_zone) if most_in_zone else 10.0
                score = score * (1.0 - 2.0 / 3.0) + (2.0 / 3.0) * zone
            scores[n] = int(score)
        return scores

    _reduce_ServiceSpreadingPriority = _reduce_SelectorSpreadPriority

    def inter_pod_affinity(self, pod: Manifest, nodes: list[Manifest]) -> dict[str, int]:
        sums: Counter[str] = Counter({name(n): 0 for n in nodes})

        def add(weight: int, term: Manifest, home: Manifest) -> None:
            k = term["topologyKey"]
            for n in nodes:
                if k in labels(n) and k in labels(home) and labels(n)[k] == labels(home)[k]:
                    sums[name(n)] += weight

        for other in self.placed:
            home = self.node[self.where[key(other)]]
            for sign, side in ((1, "podAffinity"), (-1, "podAntiAffinity")):
                for w in terms(pod, side, "preferred"):
                    if term_matches(pod, w["podAffinityTerm"], other):
                        add(sign * w["weight"], w["podAffinityTerm"], home)
                for w in terms(other, side, "preferred"):
                    if term_matches(other, w["podAffinityTerm"], pod):
                        add(sign * w["weight"], w["podAffinityTerm"], home)
            for t in terms(other, "podAffinity", "required"):
                if term_matches(other, t, pod):
                    add(self.hard_weight, t, home)
        return self.scaled(sums)

    def scaled(self, sums: dict[str, int]) -> dict[str, int]:
        high, low = max(0, *sums.values()), min(0, *sums.values())
        return {n: int(10.0 * ((c - low) / (high - low))) if high > low else 0 for n, c in sums.items()}

    def _NodeAffinityPriority(self, pod: Manifest, node: Manifest) -> int:
        preferred = terms(pod, "nodeAffinity", "preferred")
        return sum(w["weight"] for w in preferred if node_term(labels(node), w["preference"]))

    def _reduce_NodeAffinityPriority(self, raw: dict[str, int]) -> dict[str, int]:
        most = max(raw.values())
        return {n: 10 * v // most if most else v for n, v in raw.items()}

    def _TaintTolerationPriority(self, pod: Manifest, node: Manifest) -> int:
        soft = [
            t
            for t in pod["spec"].get("tolerations") or []
            if t.get("effect") in (None, "", "PreferNoSchedule")
        ]
        taints = node["spec"].get("taints") or []
        return sum(t.get("effect") == "PreferNoSchedule" and not tolerated(t, soft) for t in taints)

    def _reduce_TaintTolerationPriority(self, raw: dict[str, int]) -> dict[str, int]:
        most = max(raw.values())
        return {n: 10 - 10 * v // most if most else 10 for n, v in raw.items()}

    def _NodePreferAvoidPodsPriority(self, pod: Manifest, node: Manifest) -> int:
        owner = next((o for o in pod["metadata"].get("ownerReferences") or [] if o.get("controller")), None)
        if owner is None or owner["kind"] not in ("ReplicationController", "ReplicaSet"):
            return 10
        text = (node["metadata"].get("annotations") or {}).get(
            "scheduler.alpha.kubernetes.io/preferAvoidPods"
        )
        try:
            avoided = (json.loads(text) if text else {}).get("preferAvoidPods") or []
            hit = any(
                a["podSignature"]["podController"]["kind"] == owner["kind"]
                and a["podSignature"]["podController"]["uid"] == owner["uid"]
                for a in avoided
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            return 10
        return 0 if hit else 10

    def _ImageLocalityPriority(self, pod: Manifest, node: Manifest) -> int:
        sizes = {
            n: i["sizeBytes"] for i in (node.get("status") or {}).get("images") or [] for n in i["names"]
        }
        total = 0
        for c in pod["spec"].get("containers") or []:
            image = c.get("image") or ""
            if image.rfind(":") <= image.rfind("/"):
                image += ":latest"
            total += sizes.get(image, 0)
        if total < 23 * MEBI:
            return 0
        return 10 if total >= 1000 * MEBI else 10 * (total - 23 * MEBI) // (977 * MEBI) + 1

    def _EqualPriority(self, pod: Manifest, node: Manifest) -> int:
        return 1

    def service_anti_affinity(
        self, label: str, pod: Manifest, nodes: list[Manifest]
    ) -> tuple[dict[str, int], dict[str, int]]:
        service = self.first_service(pod)
        raw = {
            name(n): sum(
                namespace(q) == namespace(pod)
                and not q["metadata"].get("deletionTimestamp")
                and includes(labels(q), service["spec"]["selector"])
                for q in self.on[name(n)]
            )
            if service
            else 0
            for n in nodes
        }
        total = sum(raw.values())
        per_value: Counter[str] = Counter()
        for n in nodes:
            if label in labels(n):
                per_value[labels(n)[label]] += raw[name(n)]
        score = {}
        for n in nodes:
            if label not in labels(n):
                score[name(n)] = 0
            else:
                here = per_value[labels(n)[label]]
                score[name(n)] = int(10.0 * ((total - here) / total)) if total else 10
        return raw, score

    def _ResourceLimitsPriority(self, pod: Manifest, node: Manifest) -> int:
        have, wants = allocatable(node), limits(pod)
        return int(any(0 < wants.get(r, 0) <= have.get(r, 0) for r in ("cpu", "memory")))


def curve(points: list[tuple[int, int]], requested: int, capacity: int) -> int:
    at = 100 if capacity == 0 or requested > capacity else 100 - (capacity - requested) * 100 // capacity
    for i, (x, y) in enumerate(points):
        if at <= x:
            if i == 0:
                return y
            x0, y0 = points[i - 1]
            return y0 + int((y - y0) * (at - x0) / (x - x0))
    return points[-1][1]
