"""HighNodeUtilization: empties nodes below a threshold, so that pods gather on fewer nodes."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_core.cluster.descheduler.arguments import (
    TEXTS,
    InvalidArguments,
    args_reader,
    check_excluding,
    check_thresholds,
)
from scheduler_core.cluster.descheduler.facts import PodFacts
from scheduler_core.cluster.descheduler.record import APPROPRIATE, UNDER
from scheduler_core.cluster.descheduler.strategy import BALANCE, Strategy, StrategyContext
from scheduler_core.cluster.descheduler.utilization import (
    UTILIZATION_FIELDS,
    NodeUsage,
    SourceEvictions,
    Usage,
    UtilizationArgs,
    classified,
    exhausted,
    is_below,
    measure,
    resource_names,
    stops,
)
from scheduler_core.kubernetes.readers import Field

ONLY_THRESHOLDING = "OnlyThresholdingResources"


class HighNodeUtilizationArgs(UtilizationArgs, frozen=True, kw_only=True):
    """HighNodeUtilizationArgs."""

    eviction_modes: tuple[str, ...] = ()


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
    classes = classified(
        context,
        nodes,
        args.thresholds,
        high,
        lambda _one, usage: UNDER if is_below(usage, args.thresholds) else APPROPRIATE,
    )
    low, others = classes[UNDER], [one for one in classes[APPROPRIATE] if not one.node.cordoned]
    if stops(context, len(low), len(others), args, len(nodes)):
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
            **UTILIZATION_FIELDS,
            "evictionModes": Field("eviction_modes", TEXTS),
        },
    ),
    defaults={"numberOfNodes": 0},
    check=_check,
    starting={"thresholds": {"cpu": 20}},
    run=run,
)
