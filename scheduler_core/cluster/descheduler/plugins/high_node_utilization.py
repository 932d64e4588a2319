"""HighNodeUtilization: empties nodes below a threshold, so that pods gather on fewer nodes."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from scheduler_core.cluster.descheduler.arguments import (
    COUNT,
    NAMESPACES,
    TEXTS,
    THRESHOLDS,
    InvalidArguments,
    Namespaces,
    Thresholds,
    args_reader,
    check_excluding,
    check_thresholds,
)
from scheduler_core.cluster.descheduler.facts import PodFacts
from scheduler_core.cluster.descheduler.record import APPROPRIATE, UNDER
from scheduler_core.cluster.descheduler.strategy import BALANCE, Strategy, StrategyContext
from scheduler_core.cluster.descheduler.utilization import (
    NodeUsage,
    SourceEvictions,
    Usage,
    exhausted,
    is_below,
    measure,
    precondition,
    record_classes,
    resource_names,
)
from scheduler_core.kubernetes.reading import Field

ONLY_THRESHOLDING = "OnlyThresholdingResources"


class HighNodeUtilizationArgs(Struct, frozen=True):
    """HighNodeUtilizationArgs; thresholds in percent."""

    thresholds: Thresholds = {}
    number_of_nodes: int = 0
    eviction_modes: tuple[str, ...] = ()
    evictable_namespaces: Namespaces = Namespaces()


def _check(args: HighNodeUtilizationArgs) -> Iterator[InvalidArguments]:
    """Yield the first fault, as ValidateHighNodeUtilizationArgs returns it."""
    faults = (
        *check_excluding(args.evictable_namespaces),
        *check_thresholds(args.thresholds, "thresholds"),
        *(
            InvalidArguments(
                f"invalid eviction mode {mode}", f"evictionModes[{place}]", f"write {ONLY_THRESHOLDING}"
            )
            for place, mode in enumerate(args.eviction_modes)
            if mode != ONLY_THRESHOLDING
        ),
    )
    yield from faults[:1]


def run(context: StrategyContext, args: HighNodeUtilizationArgs) -> None:
    """Evict from the nodes below the threshold, the emptiest first, as long as the others have room."""
    nodes = measure(context, resource_names(args.thresholds))
    high = dict.fromkeys(args.thresholds, 100.0)
    usages = {one.node.name: one.percentages() for one in nodes}
    below = {name for name, usage in usages.items() if is_below(usage, args.thresholds)}
    low = [one for one in nodes if one.node.name in below]
    others = [one for one in nodes if one.node.name not in below and not one.node.cordoned]
    rows = ((one, UNDER if one.node.name in below else APPROPRIATE) for one in nodes)
    record_classes(context, ((one, usages[one.node.name], of) for one, of in rows), args.thresholds, high)
    for one in nodes:
        one.cap(high)
    for reason in precondition(len(low), len(others), args.number_of_nodes, len(nodes)):
        context.stop(reason)
        return
    moves = SourceEvictions(context, others, _ends, args.evictable_namespaces.exclude)
    moves.run(sorted(low, key=lambda one: one.weight), lambda pod: _requests_any(pod, args))


def _requests_any(pod: PodFacts, args: HighNodeUtilizationArgs) -> bool:
    """Return whether a pod requests a resource with a threshold, where only such pods are evicted."""
    if ONLY_THRESHOLDING not in args.eviction_modes:
        return True
    containers = [*(pod.spec.get("containers") or ()), *(pod.spec.get("initContainers") or ())]
    requests = [(one.get("resources") or {}).get("requests") or {} for one in containers]
    return any(name in one for name in args.thresholds for one in requests)


def _ends(source: NodeUsage, budget: Usage) -> str:
    del source
    name = exhausted(budget)
    return f"the other nodes can take no more {name}" if name else ""


STRATEGY = Strategy(
    name="HighNodeUtilization",
    point=BALANCE,
    words="evicts pods from nodes below thresholds while others have room",
    args=args_reader(
        HighNodeUtilizationArgs,
        {
            "thresholds": Field("thresholds", THRESHOLDS),
            "numberOfNodes": Field("number_of_nodes", COUNT),
            "evictionModes": Field("eviction_modes", TEXTS),
            "evictableNamespaces": Field("evictable_namespaces", NAMESPACES),
        },
    ),
    defaults={"numberOfNodes": 0},
    check=_check,
    run=run,
)
