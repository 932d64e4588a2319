"""LowNodeUtilization: moves pods from nodes above a target to nodes below a threshold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from scheduler_core.cluster.descheduler.arguments import (
    COUNT,
    THRESHOLDS,
    InvalidArguments,
    Thresholds,
    args_reader,
    check_excluding,
    check_thresholds,
)
from scheduler_core.cluster.descheduler.facts import PodFacts
from scheduler_core.cluster.descheduler.record import APPROPRIATE, OVER, UNDER
from scheduler_core.cluster.descheduler.strategy import BALANCE, Strategy, StrategyContext
from scheduler_core.cluster.descheduler.utilization import (
    UTILIZATION_FIELDS,
    NodeUsage,
    SourceEvictions,
    Usage,
    UtilizationArgs,
    classified,
    deviating,
    exhausted,
    is_below,
    measure,
    resource_names,
    stops,
)
from scheduler_core.kubernetes.readers import Field, boolean, record, text

KUBERNETES_METRICS, PROMETHEUS = "KubernetesMetrics", "Prometheus"


class MetricsUtilization(Struct, frozen=True):
    """MetricsUtilization: where real usage comes from, which is not simulated."""

    metrics_server: bool = False
    source: str = ""
    query: str | None = None


class LowNodeUtilizationArgs(UtilizationArgs, frozen=True, kw_only=True):
    """LowNodeUtilizationArgs; thresholds in percent."""

    target_thresholds: Thresholds = field(default_factory=dict)
    use_deviation_thresholds: bool = False
    most_per_node: int | None = None
    metrics: MetricsUtilization | None = None


def _check(args: LowNodeUtilizationArgs) -> Iterator[InvalidArguments]:
    """Yield the first fault, as ValidateLowNodeUtilizationArgs returns it."""
    faults = (*check_excluding(args.evictable_namespaces), *_check_thresholds(args), *_check_metrics(args))
    yield from faults[:1]


def _check_thresholds(args: LowNodeUtilizationArgs) -> Iterator[InvalidArguments]:
    low, high = args.thresholds, args.target_thresholds
    yield from check_thresholds(low, "thresholds", "thresholds config is not valid: ")
    yield from check_thresholds(high, "targetThresholds", "targetThresholds config is not valid: ")
    if low.keys() != high.keys():
        yield InvalidArguments(
            "thresholds and targetThresholds configured different resources",
            "targetThresholds",
            f"set {', '.join(sorted(low.keys() ^ high.keys()))} in both or in neither",
        )
    for name, value in low.items():
        if value > high.get(name, value) and not args.use_deviation_thresholds:
            message = f"thresholds' {name} percentage is greater than targetThresholds'"
            yield InvalidArguments(message, f"thresholds.{name}", f"write at most {high[name]:g}")


def _check_metrics(args: LowNodeUtilizationArgs) -> Iterator[InvalidArguments]:
    metrics = args.metrics
    if metrics is None:
        return
    if metrics.source == KUBERNETES_METRICS and metrics.metrics_server:
        text = f'it is not allowed to set both "{KUBERNETES_METRICS}" source and metricsServer'
        yield InvalidArguments(text, "metricsUtilization", "remove metricsServer")
    if metrics.source == KUBERNETES_METRICS and metrics.query is not None:
        text = f'prometheus configuration is not allowed to set when source is set to "{KUBERNETES_METRICS}"'
        yield InvalidArguments(text, "metricsUtilization.prometheus", "remove it")
    if metrics.source == PROMETHEUS and not metrics.query:
        text = f'prometheus query is required when metrics source is set to "{PROMETHEUS}"'
        yield InvalidArguments(text, "metricsUtilization.prometheus", "write a query")


def _gaps(args: LowNodeUtilizationArgs) -> Iterator[InvalidArguments]:
    if args.metrics is not None:
        yield InvalidArguments(
            "usage by metrics is not simulated: LowNodeUtilization does nothing",
            "metricsUtilization",
            "remove it to decide by requests",
        )


def run(context: StrategyContext, args: LowNodeUtilizationArgs) -> None:
    """Classify the nodes by requests, then evict from those above the target, the fullest first."""
    if args.metrics is not None:
        context.stop("usage by metrics is not simulated")
        return
    nodes = measure(context, resource_names(args.thresholds))
    low, high = args.thresholds, args.target_thresholds
    if args.use_deviation_thresholds:
        low, high = deviating([one.percentages() for one in nodes], low, high)
    classes = classified(context, nodes, low, high, lambda one, usage: _category(one, usage, low, high))
    under, over = classes[UNDER], classes[OVER]
    if stops(context, len(under), len(over), args, len(nodes)):
        return
    moves = SourceEvictions(context, under, _ends, args.evictable_namespaces.exclude, args.most_per_node)
    moves.run(sorted(over, key=lambda one: -one.weight), _everyone)


def _category(one: NodeUsage, usage: Thresholds, low: Thresholds, high: Thresholds) -> str:
    if not one.node.cordoned and is_below(usage, low):
        return UNDER
    return APPROPRIATE if is_below(usage, high) else OVER


def _everyone(pod: PodFacts) -> bool:
    """Consider every pod, whatever it requests."""
    del pod
    return True


def _ends(source: NodeUsage, budget: Usage) -> str:
    if not source.excess():
        return "the node is no longer above its target"
    name = exhausted(budget)
    return f"the underutilized nodes can take no more {name}" if name else ""


def _metrics(prometheus: str | None = None, **fields: Any) -> MetricsUtilization:
    return MetricsUtilization(**fields, query=prometheus)


STRATEGY = Strategy(
    name="LowNodeUtilization",
    point=BALANCE,
    words="evicts pods from nodes above targetThresholds while others are below thresholds",
    args=args_reader(
        LowNodeUtilizationArgs,
        {
            **UTILIZATION_FIELDS,
            "targetThresholds": Field("target_thresholds", THRESHOLDS),
            "useDeviationThresholds": Field("use_deviation_thresholds", boolean),
            "evictionLimits": Field(
                "most_per_node", record(lambda node=None: node, {"node": Field("node", COUNT)})
            ),
            "metricsUtilization": Field(
                "metrics",
                record(
                    _metrics,
                    {
                        "metricsServer": Field("metrics_server", boolean),
                        "source": Field("source", text),
                        "prometheus": Field(
                            "prometheus", record(lambda query="": query, {"query": Field("query", text)})
                        ),
                    },
                ),
            ),
        },
    ),
    defaults={"useDeviationThresholds": False, "numberOfNodes": 0},
    check=_check,
    gaps=_gaps,
    starting={"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 50}},
    run=run,
)
