"""Opportunistic batching (KEP-5598), the idea's present-day form: one pod's ranking serves the next pods.

A pod whose rules read only nodes and each node's own pods has a signature. The nodes ranked for one pod are
kept, best first, and offered one by one to the following pods with the same signature, as long as each pod
fills its node: while another one would still fit there, that node's new score is unknown. Changes of the
cluster in between are ignored (framework/runtime/batch.go).

An offer saves the evaluations of the ranking, less those that full nodes have turned out to need: exactly
the evaluations that would run without a cache as long as only these pods change the nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.record.cache_record import CacheRecord, Counts
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.services import services_of, spreading_selectors
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.profiles.priority import Mapped
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_11.predicates import CheckServiceAffinity
from scheduler_core.schedulers.v1_11.priorities import ServiceAntiAffinity
from scheduler_core.schedulers.v1_11.priorities.selector_spread import SelectorSpread
from scheduler_core.schedulers.v1_11.strategy import EvaluationStrategy, NodeIndices, Trial

BY_SERVICE = (CheckServiceAffinity, ServiceAntiAffinity)
MAX_AGE = 0.5  # seconds of virtual time for which a ranking may be used
NODE_BYTES = 8  # a reference to a name held by the cluster
RANKING_BYTES = 128  # signature, time and the list itself


@dataclass(slots=True)
class _Ranked:
    signature: int
    nodes: list[str]  # the next best is last
    made: float
    pairs: int  # predicate-node evaluations that another pod like it would take on all nodes


class Batching(EvaluationStrategy):
    """The ranking kept by one scheduler, and the evaluations it saved; events do not invalidate a ranking."""

    ranks = True

    def __init__(self, cluster: Cluster, profile: Profile) -> None:
        super().__init__()
        self.order = profile.order
        self.cluster = cluster
        self._rules = tuple(_rules(profile))
        self.time = 0.0
        self.flushed: Counter[str] = Counter()  # why a ranking was not used, and how often
        self._ranked: _Ranked | None = None
        self._last: str | None = None  # the node that the last cycle chose
        self._asked = 0  # pairs evaluated at a time
        self._unsigned = ""  # why this cycle's pod has no signature
        self._record = CacheRecord("batching", "signature")

    @property
    def bytes(self) -> int:
        """The size of the kept ranking in bytes."""
        return 0 if self._ranked is None else RANKING_BYTES + NODE_BYTES * len(self._ranked.nodes)

    # A cycle

    def begin(self, cycle: int, time: float) -> None:  # noqa: ARG002
        """Begin a cycle at a moment of virtual time."""
        self.time = time
        self._record = CacheRecord("batching", "signature")

    def unsigned(self, pod: PodState) -> str:
        """Return why a pod has no signature: a rule that reads pods of other nodes. "" if it has one."""
        terms = pod.info.terms
        if terms.required or terms.preferred or terms.anti_required or terms.anti_preferred:
            return "its inter-pod affinity depends on pods of other nodes"
        for name, rule in self._rules:
            if isinstance(rule, SelectorSpread) and spreading_selectors(pod.info, self.cluster):
                return f"{name} counts the pods of its controller or service on all nodes"
            if isinstance(rule, BY_SERVICE) and services_of(pod.info, self.cluster):
                return f"{name} reads the pods of its service on all nodes"
        return ""

    def offer(self, pod: PodState, fits: Trial) -> str | None:
        """Return the next best node of the ranking, if the ranking serves the pod and the pod fits there.

        The ranking holds only while the last chosen node has no room for another pod: otherwise its new
        score, and so its rank, is unknown.
        """
        ranked, last = self._ranked, self._last
        why = self._unusable(pod, ranked, last)
        if why or ranked is None or last is None:
            self._flush(why)
            return None
        if self._tried(last, fits):
            self._flush("the node selected before has room for another pod")
            return None
        # the node was ranked because every predicate passed; now an early one may end its evaluation
        ranked.pairs -= max(0, len(self.order) - self._asked)
        tried = self._asked
        node = self._record.hint = ranked.nodes.pop()
        if not self._tried(node, fits):
            return None
        self._last = node
        self._record.counts.hits += max(0, ranked.pairs - tried - self._asked)
        return node

    def _tried(self, node: str, fits: Trial) -> bool:
        fit, pairs = fits(node)
        self.asked(pairs)
        return fit

    def _unusable(self, pod: PodState, ranked: _Ranked | None, last: str | None) -> str:
        self._unsigned = self.unsigned(pod)
        if self._unsigned:
            return self._unsigned
        if ranked is None or not ranked.nodes:
            return "the ranking is exhausted"
        if last is None:
            return "the previous pod was not scheduled"
        if ranked.signature != pod.info.number:
            return "the previous pod had a different signature"
        if self.time - ranked.made > MAX_AGE:
            return "the ranking is older than half a second"
        if not {last, ranked.nodes[-1]} <= self.cluster.columns.index.keys():
            return "the node was deleted"
        return ""

    def asked(self, pairs: int) -> None:
        """Count pairs of predicate and node that were evaluated in this cycle."""
        self._asked = pairs
        self._record.counts.bypassed += pairs

    def placed(self, pod: PodState, node: int, feasible: NodeIndices, totals: IntVector | None) -> None:
        """Keep the ranking of the feasible nodes without the chosen one."""
        columns = self.cluster.columns
        self._last = columns.names[node]
        self._ranked = None
        if self._unsigned or totals is None:
            return
        order = feasible[np.lexsort((columns.name_ranks[feasible], totals))].tolist()
        left = [columns.names[other] for other in order if other != node]
        self._ranked = _Ranked(pod.info.number, left, self.time, self._asked)
        self._record.counts.writes += 1

    def failed(self) -> None:
        """Record that the pod was not scheduled."""
        self._last = None

    def _flush(self, why: str) -> None:
        self._record.counts.invalidated += self._ranked is not None
        self._ranked = None
        self.flushed[why] += 1
        self._record.bypass = why

    def finish(self, message: str | None = None) -> CacheRecord:  # noqa: ARG002
        """End the cycle and return its record."""
        record = self._record
        self.totals.add(record.counts)
        record.totals = Counts()
        record.totals.add(self.totals)
        return record

    def report(self) -> Iterator[str]:
        """Yield a summary of batching over the whole run, line by line."""
        yield (
            f"batching: {self.totals.hits:,} evaluations saved, {self.totals.evaluations:,} made; "
            "rankings not used because"
        )
        yield from (f"  {count:,} × {why}" for why, count in self.flushed.most_common())


def _rules(profile: Profile) -> Iterator[tuple[str, object]]:
    yield from zip(profile.order, profile.predicates)
    for priority in profile.priorities:
        yield priority.name, priority.run.steps if isinstance(priority.run, Mapped) else priority.run
