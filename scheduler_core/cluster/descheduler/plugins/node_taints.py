"""RemovePodsViolatingNodeTaints: pods that do not tolerate a taint of their node."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_core.cluster.descheduler.arguments import (
    SCOPE_FIELDS,
    TEXTS,
    InvalidArguments,
    PodScope,
    args_reader,
    check_scope,
)
from scheduler_core.cluster.descheduler.eviction import NODE_LIMIT
from scheduler_core.cluster.descheduler.facts import NodeFacts, PodFacts, Taint
from scheduler_core.cluster.descheduler.strategy import DESCHEDULE, Strategy, StrategyContext
from scheduler_core.kubernetes.readers import Field, boolean


class RemovePodsViolatingNodeTaintsArgs(PodScope, frozen=True, kw_only=True):
    """RemovePodsViolatingNodeTaintsArgs; taints are named by key, or by key=value."""

    include_prefer_no_schedule: bool = False
    excluded_taints: tuple[str, ...] = ()
    included_taints: tuple[str, ...] | None = None

    def looks_at(self, taint: Taint) -> bool:
        """Return whether a taint counts. NoExecute is left to the taint manager."""
        effects = ("NoSchedule", "PreferNoSchedule")[: 1 + self.include_prefer_no_schedule]
        names = {taint["key"], f"{taint['key']}={taint['value']}" if taint.get("value") else taint["key"]}
        included = self.included_taints is None or bool(names & set(self.included_taints))
        return taint.get("effect") in effects and not names & set(self.excluded_taints) and included


def _check(args: RemovePodsViolatingNodeTaintsArgs) -> Iterator[InvalidArguments]:
    yield from check_scope(args)
    if args.excluded_taints and args.included_taints:
        yield InvalidArguments(
            "either includedTaints or excludedTaints can be set, but not both",
            "includedTaints",
            "remove one of them",
        )


def run(context: StrategyContext, args: RemovePodsViolatingNodeTaintsArgs) -> None:
    """Evict node by node the pods that do not tolerate one of its taints."""
    for node in context.nodes:
        taints = [taint for taint in node.taints if args.looks_at(taint)]
        for pod in [*_intolerant(context, args, node, taints)] if taints else ():
            if context.evict(pod, _reason(pod, node, taints)) == NODE_LIMIT:
                break


def _intolerant(
    context: StrategyContext, args: RemovePodsViolatingNodeTaintsArgs, node: NodeFacts, taints: list[Taint]
) -> Iterator[PodFacts]:
    for pod in context.listing.pods_on(node.name):
        if args.has(pod) and not pod.tolerates(taints) and context.admits(pod):
            yield pod


def _reason(pod: PodFacts, node: NodeFacts, taints: list[Taint]) -> str:
    taint = next(one for one in taints if not pod.tolerates([one]))
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"taint {taint['key']}{value}:{taint['effect']} of node {node.name} is not tolerated"


STRATEGY = Strategy(
    name="RemovePodsViolatingNodeTaints",
    point=DESCHEDULE,
    words="evicts pods that do not tolerate a NoSchedule taint of their node",
    args=args_reader(
        RemovePodsViolatingNodeTaintsArgs,
        {
            **SCOPE_FIELDS,
            "includePreferNoSchedule": Field("include_prefer_no_schedule", boolean),
            "excludedTaints": Field("excluded_taints", TEXTS),
            "includedTaints": Field("included_taints", TEXTS),
        },
    ),
    defaults={"includePreferNoSchedule": False},
    check=_check,
    run=run,
)
