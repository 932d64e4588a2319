"""LowNodeUtilization of v0.9.0: percentages of cpu, memory and pods, in floating point as in Go."""

from __future__ import annotations

from math import inf, nan

from scheduler_core.cluster.descheduler.arguments import Thresholds
from scheduler_core.cluster.descheduler.classic.params import PARAMS, Params
from scheduler_core.cluster.descheduler.facts import BEST_EFFORT, BURSTABLE, GUARANTEED, NodeFacts, PodFacts
from scheduler_core.cluster.descheduler.record import (
    APPROPRIATE,
    EVICTED,
    KEPT,
    LIMITED,
    OVER,
    UNDER,
    NodeClass,
    Utilization,
)
from scheduler_core.cluster.descheduler.strategy import BALANCE, CLASSIC, Strategy, StrategyContext
from scheduler_core.cluster.v1_37.go_sort import go_sorted

NAMES = ("cpu", "memory", "pods")


def _percent(amount: float, whole: int) -> float:
    """Return a percentage; of nothing, what Go's division gives."""
    if whole:
        return amount * 100 / whole
    return inf if amount else nan


def _share(amount: float, whole: int) -> float:
    """Return a percentage in the other order of operations, which v0.9.0 has for memory."""
    return amount / whole * 100 if whole else _percent(amount, whole)


class _MeasuredNode:
    """A node, its usage in percent, and its evictable pods."""

    def __init__(self, context: StrategyContext, node: NodeFacts) -> None:
        self.node, self.pods = node, context.listing.pods_on(node.name)
        counted = [pod for pod in self.pods if pod.container_qos != BEST_EFFORT]
        cpu = sum(pod.requests.get("cpu", 0) for pod in counted)
        memory = sum(pod.requests.get("memory", 0) for pod in counted)
        self.usage = {
            "cpu": _percent(cpu, self.whole("cpu")),
            "memory": _share(memory, self.whole("memory")),
            "pods": _percent(len(self.pods), self.whole("pods")),
        }

    def whole(self, name: str) -> int:
        """Return the capacity of a resource."""
        return self.node.capacity.get(name, 0)

    def exceeds(self, thresholds: Thresholds) -> bool:
        """Return whether a resource is above its threshold."""
        return any(self.usage[name] > thresholds[name] for name in NAMES if name in thresholds)

    def take(self, pod: PodFacts) -> None:
        """Subtract an evicted pod."""
        cpu, memory = pod.requests.get("cpu", 0), pod.requests.get("memory", 0)
        self.usage["pods"] -= _percent(1.0, self.whole("pods"))
        self.usage["cpu"] -= _percent(cpu, self.whole("cpu"))
        self.usage["memory"] -= _share(memory, self.whole("memory"))


def _fault(low: Thresholds | None, high: Thresholds | None) -> str:
    """Return why the thresholds cannot be used, which v0.9.0 only logs."""
    if not low:
        return "no resource threshold is configured"
    if not set(low) <= set(NAMES):
        return "only cpu, memory, or pods thresholds can be specified"
    if high is None:
        return "no target resource threshold is configured"
    return "" if "pods" in high else "no target resource threshold for pods is configured"


def run(context: StrategyContext, params: Params) -> None:
    """Evict from the nodes above the target, the fullest first."""
    given = params.utilization
    low, high = given.thresholds, given.target_thresholds
    if (fault := _fault(low, high)) or low is None or high is None:
        context.stop(fault)
        return
    nodes = [_MeasuredNode(context, node) for node in context.nodes]
    under, over = _classify(context, nodes, low, high)
    reason = _idle(len(under), len(over), given.number_of_nodes, len(nodes))
    if reason:
        context.stop(reason)
        return
    budget = _budget(under, high)
    for one in sorted(over, key=lambda one: -sum(one.usage.values())):
        for pods in _passes(context, one):
            _evict(context, one, pods, high, budget)


def _classify(
    context: StrategyContext, nodes: list[_MeasuredNode], low: Thresholds, high: Thresholds
) -> tuple[list[_MeasuredNode], list[_MeasuredNode]]:
    def category(one: _MeasuredNode) -> str:
        if not one.node.cordoned and not one.exceeds(low):
            return UNDER
        return OVER if one.exceeds(high) else APPROPRIATE

    found = [(one, category(one)) for one in nodes]
    rows = (NodeClass(one.node.name, dict(one.usage), of, one.node.cordoned) for one, of in found)
    context.record.utilization = Utilization(dict(low), dict(high), tuple(rows))
    return [one for one, of in found if of == UNDER], [one for one, of in found if of == OVER]


def _idle(under: int, over: int, number_of_nodes: int, everything: int) -> str:
    """Return why there is nothing to do, "" if there is."""
    if not under:
        return "no node is underutilized"
    if under < number_of_nodes:
        return f"{under} nodes are underutilized, fewer than numberOfNodes, {number_of_nodes}"
    if under == everything:
        return "all nodes are underutilized"
    return "" if over else "all nodes are under target utilization"


def _budget(under: list[_MeasuredNode], high: Thresholds) -> dict[str, float]:
    """Return what the underutilized nodes can take: pods, millicores, bytes."""
    return {
        name: sum((high[name] - one.usage[name]) * one.whole(name) / 100 for one in under)
        if name in high
        else 0.0
        for name in NAMES
    }


def _passes(context: StrategyContext, one: _MeasuredNode) -> list[list[PodFacts]]:
    """Return the evictable pods in one list by priority, or by QoS class if the first pod has no priority."""
    by_class: dict[str, list[PodFacts]] = {BURSTABLE: [], BEST_EFFORT: [], GUARANTEED: []}
    for pod in one.pods:
        if context.unprotected(pod):
            by_class[pod.container_qos].append(pod)
    if one.pods and one.pods[0].priority is not None:
        return [go_sorted((pod for pods in by_class.values() for pod in pods), _compare)]
    return [by_class[BEST_EFFORT], by_class[BURSTABLE], by_class[GUARANTEED]]


def _compare(one: PodFacts, other: PodFacts) -> int:
    """Return -1 if v0.9.0 holds the one pod to be less (sortPodsBasedOnPriority); it is no order."""
    if (one.priority is None) != (other.priority is None):
        less = one.priority is None
    elif one.priority == other.priority:
        classes = one.container_qos, other.container_qos
        less = classes[0] == BEST_EFFORT or classes == (BURSTABLE, GUARANTEED)
    else:
        less = (one.priority or 0) < (other.priority or 0)
    return -1 if less else 0


def _is_spent(budget: dict[str, float]) -> bool:
    return all(left <= 0 for left in budget.values())


def _evict(
    context: StrategyContext,
    one: _MeasuredNode,
    pods: list[PodFacts],
    high: Thresholds,
    budget: dict[str, float],
) -> None:
    """Run one pass over pods of a node (evictPods)."""
    done = not one.exceeds(high) or _is_spent(budget)
    limits, counts = context.evictions.limits, context.evictions.counts
    for pod in pods:
        if done:
            context.evictions.note(pod, KEPT, "the node is at its target, or the others can take no more")
        elif limits.node is not None and counts.nodes[one.node.name] >= limits.node:
            context.evictions.note(pod, LIMITED, f"the run may evict {limits.node} of node {one.node.name}")
        elif context.evictions.ask(pod, f"node {one.node.name} is above its target") == EVICTED:
            one.take(pod)
            for name in NAMES:
                budget[name] -= 1 if name == "pods" else pod.requests.get(name, 0)
            done = not one.exceeds(high) or _is_spent(budget)


STRATEGY = Strategy(
    name="LowNodeUtilization",
    edition=CLASSIC,
    point=BALANCE,
    words="evicts pods from nodes above targetThresholds while others are below thresholds",
    args=PARAMS,
    run=run,
)
