"""Usage, thresholds and the eviction loop that both utilization plugins share (``nodeutilization.go``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from scheduler_core.cluster.descheduler.arguments import COUNT, NAMESPACES, THRESHOLDS, Namespaces, Thresholds
from scheduler_core.cluster.descheduler.eviction import NODE_LIMIT
from scheduler_core.cluster.descheduler.facts import NodeFacts, PodFacts
from scheduler_core.cluster.descheduler.lister import total_requests
from scheduler_core.cluster.descheduler.record import (
    APPROPRIATE,
    EVICTED,
    KEPT,
    LIMITED,
    NO_TARGET,
    OVER,
    UNDER,
    NodeClass,
    Utilization,
)
from scheduler_core.cluster.descheduler.strategy import StrategyContext
from scheduler_core.kubernetes.readers import Field

BASIC = ("cpu", "memory", "pods")
Usage = dict[str, int]


class UtilizationArgs(Struct, frozen=True, kw_only=True):
    """The arguments that both plugins have; thresholds in percent."""

    thresholds: Thresholds = {}
    number_of_nodes: int = 0
    evictable_namespaces: Namespaces = Namespaces()


UTILIZATION_FIELDS = {
    "thresholds": Field("thresholds", THRESHOLDS),
    "numberOfNodes": Field("number_of_nodes", COUNT),
    "evictableNamespaces": Field("evictable_namespaces", NAMESPACES),
}


class NodeUsage:
    """A node, its pods at the start, what they request of the resources, and what it may hold of each."""

    def __init__(self, node: NodeFacts, pods: list[PodFacts], names: Iterable[str]) -> None:
        self.node, self.pods, self.names = node, pods, tuple(names)
        total = {**total_requests(pods), "pods": len(pods)}
        self.usage: Usage = {name: total.get(name, 0) for name in self.names}
        self.available: Usage = {}

    def percentages(self) -> dict[str, float]:
        """Return the usage in percent of the capacity, of the resources that the node has."""
        capacity = self.node.capacity
        return {
            name: used / capacity[name] * 100 if capacity[name] > 0 else 0.0
            for name, used in self.usage.items()
            if name in capacity
        }

    def cap(self, thresholds: Thresholds) -> None:
        """Set what the node may hold: the threshold's part of its capacity, or all without a threshold."""
        for name in self.names:
            whole = self.node.capacity.get(name, 0)
            share = thresholds.get(name)
            self.available[name] = whole if share is None else int(share * 0.01 * whole)

    def excess(self) -> str:
        """Return the first resource of which more is requested than is available, "" if there is none."""
        return next((name for name in self.names if self.usage[name] > self.available[name]), "")

    @property
    def weight(self) -> int:
        """The sum of all amounts, in which bytes outweigh everything else (sortNodesByUsage)."""
        return sum(self.usage.values())


def resource_names(thresholds: Thresholds) -> tuple[str, ...]:
    """Return cpu, memory, pods and the other resources that have a threshold."""
    return (*BASIC, *(name for name in thresholds if name not in BASIC))


def measure(context: StrategyContext, names: tuple[str, ...]) -> list[NodeUsage]:
    """Take the snapshot of all nodes on which a plugin decides."""
    return [NodeUsage(node, context.listing.pods_on(node.name), names) for node in context.nodes]


def is_below(usage: Thresholds, thresholds: Thresholds) -> bool:
    """Return whether no resource exceeds its threshold; a resource that the node lacks counts as 0."""
    return all(usage.get(name, 0.0) <= limit for name, limit in thresholds.items())


def deviating(
    usages: Iterable[Mapping[str, float]], low: Thresholds, high: Thresholds
) -> tuple[Thresholds, Thresholds]:
    """Return thresholds around the average usage, between 0 and 100: ``low`` below it, ``high`` above."""
    found: dict[str, list[float]] = {}
    for usage in usages:
        for name in usage.keys() & low.keys():
            found.setdefault(name, []).append(usage[name])
    average = {name: sum(values) / len(values) for name, values in found.items()}

    def clamped(name: str, by: float) -> float:
        return min(max(average[name] + by, 0.0), 100.0)

    return (
        {name: clamped(name, -low.get(name, 0.0)) for name in average},
        {name: clamped(name, high.get(name, 0.0)) for name in average},
    )


def classified(
    context: StrategyContext,
    nodes: Iterable[NodeUsage],
    low: Thresholds,
    high: Thresholds,
    class_of: Callable[[NodeUsage, Thresholds], str],
) -> dict[str, list[NodeUsage]]:
    """Record each node with its class by its usage in percent; return them by class, capped by ``high``."""
    found: dict[str, list[NodeUsage]] = {UNDER: [], APPROPRIATE: [], OVER: []}
    rows = []
    for one in nodes:
        usage = one.percentages()
        of = class_of(one, usage)
        found[of].append(one)
        rows.append(NodeClass(one.node.name, usage, of, one.node.cordoned))
        one.cap(high)
    context.record.utilization = Utilization(dict(low), dict(high), tuple(rows))
    return found


Continues = Callable[[NodeUsage, Usage], str]
"""Returns why to end the loop over a node, given it and what the destinations can still take."""


class SourceEvictions:
    """Evicts from source nodes as long as the destinations can take more (evictPodsFromSourceNodes)."""

    def __init__(
        self,
        context: StrategyContext,
        destinations: list[NodeUsage],
        ends: Continues,
        excluded: Iterable[str] = (),
        most_per_node: int | None = None,
    ) -> None:
        self.context, self.ends, self.most_per_node = context, ends, most_per_node
        self.excluded = frozenset(excluded)
        self.taints = {_taint_key(one): one.node.taints for one in destinations}.values()
        self.budget: Usage = {}
        for one in destinations:
            for name in one.names:
                self.budget[name] = self.budget.get(name, 0) + one.available[name] - one.usage[name]

    def run(self, sources: Iterable[NodeUsage], considers: Callable[[PodFacts], bool]) -> None:
        """Go over the nodes in the order given, and over their pods by priority and QoS."""
        for source in sources:
            pods = [pod for pod in source.pods if considers(pod) and self.context.unprotected(pod)]
            self._drain(source, sorted(pods, key=PodFacts.eviction_rank))

    def _drain(self, source: NodeUsage, pods: list[PodFacts]) -> None:
        evicted = 0
        end = self.ends(source, self.budget)
        waiting = iter(pods)
        while not end:
            pod = next(waiting, None)
            if pod is None:
                return
            if self.most_per_node is not None and evicted >= self.most_per_node:
                self.context.evictions.note(pod, LIMITED, f"evictionLimits.node is {self.most_per_node}")
                break
            if not self._can_go(pod):
                continue
            outcome = self.context.evict(pod, self._reason(source))
            if outcome == NODE_LIMIT:
                break
            if outcome == EVICTED:
                evicted += 1
                self._subtract(source, pod)
                end = self.ends(source, self.budget)
        for pod in waiting:
            self.context.evictions.note(pod, KEPT, end or "the loop over the node has ended")

    def _can_go(self, pod: PodFacts) -> bool:
        if not any(len(pod.tolerations) >= len(taints) and pod.tolerates(taints) for taints in self.taints):
            reason = (
                "it tolerates the taints of no destination, or has fewer tolerations than each has taints"
            )
            self.context.evictions.note(pod, NO_TARGET, reason)
            return False
        if pod.namespace in self.excluded:
            self.context.evictions.note(pod, KEPT, f"namespace {pod.namespace} is excluded")
            return False
        return self.context.unhindered(pod)

    def _reason(self, source: NodeUsage) -> str:
        usage = source.percentages()
        most = max(usage, key=lambda name: usage[name], default="")
        return f"node {source.node.name} has {usage.get(most, 0.0):.0f}% of its {most} requested"

    def _subtract(self, source: NodeUsage, pod: PodFacts) -> None:
        for name in self.budget:
            amount = 1 if name == "pods" else pod.requests.get(name, 0)
            source.usage[name] -= amount
            self.budget[name] -= amount


def _taint_key(one: NodeUsage) -> str:
    return repr(one.node.taints)


def exhausted(budget: Usage) -> str:
    """Return the first resource of which the destinations can take no more, "" if there is none."""
    return next((name for name, left in budget.items() if left <= 0), "")


def stops(context: StrategyContext, low: int, others: int, args: UtilizationArgs, everything: int) -> bool:
    """Stop a plugin that has nothing to do, given how many nodes are underutilized and otherwise usable."""
    if not low:
        reason = "no node is underutilized"
    elif low <= args.number_of_nodes:
        reason = f"{low} nodes are underutilized, and numberOfNodes is {args.number_of_nodes}"
    elif low == everything:
        reason = "all nodes are underutilized"
    elif not others:
        reason = "no node is above its target"
    else:
        return False
    context.stop(reason)
    return True
