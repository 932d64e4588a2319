"""One run's evictions: limits, the API's answer, and the verdict on each pod."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from scheduler_core.cluster.descheduler.facts import PodFacts
from scheduler_core.cluster.descheduler.lister import EvictionRefusedError, Listing
from scheduler_core.cluster.descheduler.record import (
    EVICTED,
    GONE,
    LIMITED,
    REFUSED,
    EvictionVerdict,
    StrategyRecord,
)

NODE_LIMIT = "node limit"
"""The answer to an eviction that the node's limit prevents: the caller ends its loop over the node."""


class TotalLimitError(Exception):
    """The run's limit is reached, which ends the strategy."""


class EvictionLimits(Struct, frozen=True):
    """The most pods that a run evicts; ``None`` sets no limit."""

    node: int | None = None
    namespace: int | None = None
    total: int | None = None


class EvictionCounts:
    """The evictions of a run so far."""

    def __init__(self) -> None:
        self.nodes: Counter[str] = Counter()
        self.namespaces: Counter[str] = Counter()
        self.total = 0

    def add(self, pod: PodFacts) -> None:
        """Count one eviction."""
        self.nodes[pod.node] += 1
        self.namespaces[pod.namespace] += 1
        self.total += 1


class Evictions:
    """Evicts for one strategy, whose record it writes. The counts are the run's."""

    def __init__(
        self, listing: Listing, limits: EvictionLimits, counts: EvictionCounts, record: StrategyRecord
    ) -> None:
        self.listing, self.limits, self.counts, self.record = listing, limits, counts, record

    def note(self, pod: PodFacts, outcome: str, reason: str, *, budget: bool = False) -> None:
        """Record a verdict."""
        self.record.verdicts.append(EvictionVerdict(pod.key, pod.node, outcome, reason, budget))

    def evict(self, pod: PodFacts, reason: str) -> str:
        """Evict a pod within the limits (PodEvictor.EvictPod); return the outcome or NODE_LIMIT.

        Raises:
            TotalLimitError: The run's limit is reached.
        """
        limits, counts = self.limits, self.counts
        if limits.total is not None and counts.total >= limits.total:
            self.note(pod, LIMITED, f"the run may evict {limits.total}")
            raise TotalLimitError
        if limits.node is not None and counts.nodes[pod.node] >= limits.node:
            self.note(pod, LIMITED, f"the run may evict {limits.node} of node {pod.node}")
            return NODE_LIMIT
        if limits.namespace is not None and counts.namespaces[pod.namespace] >= limits.namespace:
            self.note(pod, LIMITED, f"the run may evict {limits.namespace} of namespace {pod.namespace}")
            return LIMITED
        return self.ask(pod, reason)

    def ask(self, pod: PodFacts, reason: str) -> str:
        """Ask the eviction API, whatever the limits; a refusal is not counted."""
        try:
            self.listing.evict(pod, f"{self.record.strategy}: {reason}")
        except EvictionRefusedError as error:
            outcome = REFUSED if error.by_budget else GONE
            self.note(pod, outcome, str(error), budget=error.by_budget)
            return outcome
        self.counts.add(pod)
        self.note(pod, EVICTED, reason)
        return EVICTED
