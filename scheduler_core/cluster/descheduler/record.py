"""The record of a run: candidates in order, why each was evicted or stays, and the nodes' classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct, field

EVICTED, REFUSED, GONE = "evicted", "refused", "gone"
PROTECTED, NO_TARGET, LIMITED, KEPT = "protected", "no target", "limited", "kept"
"""What became of a candidate: the API's answer, or what kept the descheduler from asking it."""

UNDER, APPROPRIATE, OVER = "underutilized", "appropriately utilized", "overutilized"


class EvictionVerdict(Struct, frozen=True):
    """What a strategy decided of a pod, and why. ``budget`` is whether a PodDisruptionBudget refused."""

    pod: str
    node: str
    outcome: str
    reason: str
    budget: bool = False


class NodeClass(Struct, frozen=True):
    """A node as a utilization strategy saw it at its start: percentages of its capacity, and its class."""

    node: str
    usage: Mapping[str, float]
    category: str
    cordoned: bool = False


class Utilization(Struct, frozen=True):
    """The thresholds in percent, after deviations were added to the average, and the nodes by name."""

    low: Mapping[str, float]
    high: Mapping[str, float]
    nodes: tuple[NodeClass, ...]


class StrategyRecord(Struct):
    """One strategy's part of a run. ``stopped`` says why it did nothing, or ended early."""

    strategy: str
    profile: str = ""
    point: str = ""
    verdicts: list[EvictionVerdict] = field(default_factory=list)
    utilization: Utilization | None = None
    stopped: str = ""

    def of(self, outcome: str) -> list[EvictionVerdict]:
        """Return the verdicts with an outcome, in order."""
        return [one for one in self.verdicts if one.outcome == outcome]


class RunRecord(Struct):
    """A run over the ready nodes, by name. ``skipped`` says why no strategy ran."""

    edition: str
    dry_run: bool
    nodes: tuple[str, ...] = ()
    skipped: str = ""
    strategies: list[StrategyRecord] = field(default_factory=list)

    @property
    def evictions(self) -> Iterator[tuple[str, EvictionVerdict]]:
        """The evictions in order, each with its strategy."""
        return ((one.strategy, verdict) for one in self.strategies for verdict in one.of(EVICTED))
