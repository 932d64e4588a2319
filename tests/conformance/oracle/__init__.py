"""A second, deliberately plain reading of kube-scheduler v1.11's rules, to test the engine against.

It walks over manifests node by node and pod by pod, with no columns, no interning and no
reuse, and shares no code with ``scheduler_core``. Slow and easy to check against the
specification beside the recorded decisions; where it and the engine differ on a random
cluster, one of them misreads the rules.
"""

from __future__ import annotations

from collections import Counter

from tests.conformance.oracle.manifests import (
    Manifest,
    claims,
    key,
    name,
    namespace,
    priority,
    term_matches,
    terms,
)
from tests.conformance.oracle.preemption import Preemption
from tests.conformance.oracle.scores import Scoring


class Oracle(Preemption, Scoring):
    """One record of the conformance format, run to its end by :meth:`run`."""

    def run(self) -> Manifest:
        active = list(self.pending)
        parked: list[Manifest] = []
        cycles, bound, deleted = [], {}, []
        while active:
            pod = min(active, key=lambda p: (-priority(p), self.age[key(p)]))
            active.remove(pod)
            self.waiting = active + parked
            cycle = self.attempt(pod)
            cycles.append(cycle)
            if cycle["result"] == "scheduled":
                self.nominated.pop(key(pod), None)
                self._bind(pod, cycle["node"])
                bound[key(pod)] = cycle["node"]
                woken = [
                    q
                    for q in parked
                    if any(term_matches(q, t, pod) for t in terms(q, "podAffinity", "required"))
                ]
                parked = [q for q in parked if q not in woken]
                active += woken
                continue
            parked.append(pod)
            preemption = cycle["preemption"]
            if preemption and preemption["node"]:
                for victim in preemption["victims"]:
                    self._unbind(next(p for p in self.placed if key(p) == victim))
                    deleted.append(victim)
                if preemption["victims"]:
                    active, parked = active + parked, []
        pending = sorted((key(p) for p in parked), key=self.age.__getitem__)
        return {"cycles": cycles, "final": {"bound": bound, "pending": pending, "deleted": deleted}}

    def attempt(self, pod: Manifest) -> Manifest:
        cycle: Manifest = {
            "pod": key(pod), "result": "error", "node": None, "message": None, "order": self.order,
            "predicates": {}, "failed": {}, "feasible": [], "priorities": {}, "totals": {},
            "lastNodeIndex": self.counter, "preemption": None,
        }  # fmt: skip
        for claim in claims(pod):
            found = self.claims.get((namespace(pod), claim))
            if found is None:
                return cycle | {"message": f'persistentvolumeclaim "{claim}" not found'}
            if found["metadata"].get("deletionTimestamp"):
                return cycle | {"message": f'persistentvolumeclaim "{claim}" is being deleted'}
        if not self.nodes:
            return cycle | {"message": "no nodes available to schedule pods"}
        for n in self.nodes:
            cycle["predicates"][name(n)] = {k: self._shown(pod, n, k) for k in self.order}
        errors, failed = [], {}
        for n in self.nodes:
            reasons, error = self.fits(pod, n, self.check_all)
            if error:
                errors.append(error)
            elif reasons:
                failed[name(n)] = reasons
        if errors:
            return cycle | {"message": merged(errors)}
        cycle["failed"] = failed
        feasible = cycle["feasible"] = [name(n) for n in self.nodes if name(n) not in failed]
        if not feasible:
            counts = Counter(r for rs in failed.values() for r in rs)
            text = ", ".join(sorted(f"{c} {r}" for r, c in counts.items()))
            cycle |= {
                "result": "unschedulable",
                "message": f"0/{len(self.nodes)} nodes are available: {text}.",
            }
            return cycle | {"preemption": self.preempt(pod, failed)}
        cycle["result"] = "scheduled"
        if len(feasible) == 1:
            return cycle | {"node": feasible[0]}
        cycle["priorities"], cycle["totals"] = self.rank(pod, [self.node[f] for f in feasible])
        totals = cycle["totals"]
        best = sorted((f for f in feasible if totals[f] == max(totals.values())), reverse=True)
        cycle["node"] = best[self.counter % len(best)]
        self.counter += 1
        return cycle


def merged(errors: list[str]) -> str:
    counts = Counter(errors)
    texts = sorted(f"{e} (repeated {c} times)" if c > 1 else e for e, c in counts.items())
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
