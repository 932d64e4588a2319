"""Opportunistic batching (KEP-5598), today's return of the idea: one pod's ranking serves the next ones.

A pod whose rules look at nothing but nodes and their own pods has a signature. The nodes that were ranked
for one pod are kept, best first, and offered one by one to the pods that follow with the same signature, as
long as each fills the node it gets: while it would still fit there, nobody knows that node's new score. What
happens in the cluster in between is not looked at (framework/runtime/batch.go).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from scheduler_core.cluster.pods import PodState
from scheduler_core.cluster.services import services_of, spreading_selectors
from scheduler_core.cluster.state import Cluster
from scheduler_core.cycle import IntVector
from scheduler_core.equivalence.events import Event
from scheduler_core.equivalence.record import CacheRecord, Counts
from scheduler_core.policy import Profile
from scheduler_core.predicates import CheckServiceAffinity
from scheduler_core.priorities import Mapped, ServiceAntiAffinity
from scheduler_core.priorities.selector_spreading import SelectorSpread

BY_SERVICE = (CheckServiceAffinity, ServiceAntiAffinity)
MAX_AGE = 0.5  # seconds of virtual time that a ranking may be used for
NODE_BYTES = 8  # a reference to a name that the cluster holds
RANKING_BYTES = 128  # signature, time and the list itself


@dataclass(slots=True)
class _Ranked:
    signature: int
    nodes: list[str]  # the next best at the end
    made: float


class Batching:
    """The ranking kept by one scheduler, and what it was good for."""

    def __init__(self, cluster: Cluster, profile: Profile) -> None:
        self.cluster = cluster
        self._rules = tuple(_rules(profile))
        self.time = 0.0
        self.totals = Counts()
        self.flushed: Counter[str] = Counter()  # why a ranking was not used, and how often
        self._ranked: _Ranked | None = None
        self._last: str | None = None  # the node that the last cycle chose
        self._unsigned = ""  # why this cycle's pod has no signature
        self._record = CacheRecord("batching", "signature")

    # What every strategy is told; a ranking heeds none of it

    def know(self, pod: PodState) -> None:
        """Pods need not be known."""

    def forget(self, key: str) -> None:
        """Nothing is kept of pods."""

    def handle(self, event: Event | None) -> None:
        """No event ends a ranking's use."""

    def write(self) -> None:
        """Nothing waits to be written."""

    @property
    def bytes(self) -> int:
        """What the ranking that is kept takes."""
        return 0 if self._ranked is None else RANKING_BYTES + NODE_BYTES * len(self._ranked.nodes)

    # A cycle

    def begin(self, cycle: int, time: float) -> None:  # noqa: ARG002
        """Begin a cycle at a moment of virtual time."""
        self.time = time
        self._record = CacheRecord("batching", "signature")

    def unsigned(self, pod: PodState) -> str:
        """Say why a pod has no signature: a rule that looks at pods elsewhere. "" if it has one."""
        terms = pod.info.terms
        if terms.required or terms.preferred or terms.anti_required or terms.anti_preferred:
            return "its inter-pod affinity depends on pods of other nodes"
        for name, rule in self._rules:
            if isinstance(rule, SelectorSpread) and spreading_selectors(pod.info, self.cluster):
                return f"{name} counts the pods of its controller or service on all nodes"
            if isinstance(rule, BY_SERVICE) and services_of(pod.info, self.cluster):
                return f"{name} looks at the pods of its service on all nodes"
        return ""

    def candidate(self, pod: PodState) -> tuple[str, str] | None:
        """Return the next node of the ranking and the last one chosen, if the ranking may serve the pod."""
        why = self._unusable(pod)
        if why:
            self._flush(why)
            return None
        assert self._ranked is not None
        assert self._last is not None
        return self._ranked.nodes[-1], self._last

    def _unusable(self, pod: PodState) -> str:
        ranked = self._ranked
        self._unsigned = self.unsigned(pod)
        if self._unsigned:
            return self._unsigned
        if ranked is None or not ranked.nodes:
            return "no ranking is left"
        if self._last is None:
            return "the pod before was not scheduled"
        if ranked.signature != pod.info.number:
            return "the pod before had another signature"
        if self.time - ranked.made > MAX_AGE:
            return "the ranking is older than half a second"
        if not {self._last, ranked.nodes[-1]} <= self.cluster.columns.index.keys():
            return "the node is gone"
        return ""

    def still_fits(self) -> None:
        """Take note that the last node has room for one more, so that nobody knows how it would rank."""
        self._flush("the node chosen before has room for one more")

    def offer(self) -> str:
        """Take the best node off the ranking."""
        assert self._ranked is not None
        self._record.hint = self._ranked.nodes.pop()
        return self._record.hint

    def evaluated(self, pairs: int) -> None:
        """Count pairs of predicate and node that were evaluated in this cycle."""
        self._record.counts.bypassed += pairs

    def took_offer(self, node: str, saved: int) -> None:
        """Take note that the pod goes to the node offered, which saved so many evaluations."""
        self._last = node
        self._record.counts.hits += saved

    def ranked(self, pod: PodState, chosen: str, nodes: IntVector, totals: IntVector) -> None:
        """Keep a ranking: ``nodes`` ``(F,)`` with their ``totals``, without the one that was chosen."""
        self._last = chosen
        self._ranked = None
        if self._unsigned or len(nodes) < 2:
            return
        names = self.cluster.columns.names
        ranks = self.cluster.columns.name_ranks[nodes]
        order = nodes[np.lexsort((ranks, totals))].tolist()
        left = [names[node] for node in order if names[node] != chosen]
        self._ranked = _Ranked(pod.info.number, left, self.time)
        self._record.counts.writes += 1

    def failed(self) -> None:
        """Take note that the pod was not scheduled."""
        self._last = None

    def _flush(self, why: str) -> None:
        self._record.counts.invalidated += self._ranked is not None
        self._ranked = None
        self.flushed[why] += 1
        self._record.bypass = why

    def finish(self, message: str | None = None) -> CacheRecord:  # noqa: ARG002
        """End the cycle and tell of it."""
        record = self._record
        self.totals.add(record.counts)
        record.totals = Counts()
        record.totals.add(self.totals)
        return record

    def report(self) -> Iterator[str]:
        """Yield what batching did in the whole run, line by line."""
        yield (
            f"batching: {self.totals.hits:,} evaluations saved, {self.totals.evaluations:,} made; "
            "rankings not used because"
        )
        yield from (f"  {count:,} × {why}" for why, count in self.flushed.most_common())


def _rules(profile: Profile) -> Iterator[tuple[str, object]]:
    yield from zip(profile.order, profile.predicates)
    for priority in profile.priorities:
        yield priority.name, priority.run.steps if isinstance(priority.run, Mapped) else priority.run
