"""RemoveFailedPods: pods in phase Failed."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_core.cluster.descheduler.arguments import (
    SCOPE_FIELDS,
    SECONDS,
    TEXTS,
    PodScope,
    args_reader,
    check_scope,
)
from scheduler_core.cluster.descheduler.container_states import CONTAINERS, INIT, exit_codes, reasons
from scheduler_core.cluster.descheduler.eviction import NODE_LIMIT
from scheduler_core.cluster.descheduler.facts import PodFacts
from scheduler_core.cluster.descheduler.record import KEPT
from scheduler_core.cluster.descheduler.strategy import DESCHEDULE, Strategy, StrategyContext
from scheduler_core.kubernetes.readers import Field, boolean, integer, list_of


class RemoveFailedPodsArgs(PodScope, frozen=True, kw_only=True):
    """RemoveFailedPodsArgs."""

    exclude_owner_kinds: tuple[str, ...] = ()
    least_seconds: int | None = None
    reasons: tuple[str, ...] = ()
    exit_codes: tuple[int, ...] = ()
    init_containers: bool = False

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of the status whose containers are looked at."""
        return (CONTAINERS, INIT)[: 1 + self.init_containers]


def _faults(context: StrategyContext, args: RemoveFailedPodsArgs, pod: PodFacts) -> Iterator[str]:
    """Yield which criteria a failed pod does not meet (validateCanEvict)."""
    least = args.least_seconds
    if least is not None and int(context.listing.now - pod.created) < least:
        yield f"pod does not exceed the min age seconds of {least}"
    for kind in (one["kind"] for one in pod.owners if one["kind"] in args.exclude_owner_kinds):
        yield f"pod's owner kind of {kind} is excluded"
    if args.reasons and not {pod.status.get("reason"), *reasons(pod, args.fields)} & set(args.reasons):
        yield "pod does not match any of the reasons"
    if args.exit_codes and not exit_codes(pod, args.fields) & set(args.exit_codes):
        yield "pod does not match any of the exitCodes"


def _meets(context: StrategyContext, args: RemoveFailedPodsArgs, pod: PodFacts) -> bool:
    faults = ", ".join(_faults(context, args, pod))
    if faults:
        context.evictions.note(pod, KEPT, faults)
    return not faults


def run(context: StrategyContext, args: RemoveFailedPodsArgs) -> None:
    """Evict node by node the failed pods that meet the criteria."""
    for node in context.nodes:
        failed = [pod for pod in context.listing.all_pods_on(node.name) if pod.phase == "Failed"]
        pods = [pod for pod in failed if args.has(pod) and context.admits(pod) and _meets(context, args, pod)]
        for pod in pods:
            if context.evict(pod, "the pod has failed") == NODE_LIMIT:
                break


STRATEGY = Strategy(
    name="RemoveFailedPods",
    point=DESCHEDULE,
    words="evicts pods in phase Failed",
    args=args_reader(
        RemoveFailedPodsArgs,
        {
            **SCOPE_FIELDS,
            "excludeOwnerKinds": Field("exclude_owner_kinds", TEXTS),
            "minPodLifetimeSeconds": Field("least_seconds", SECONDS),
            "reasons": Field("reasons", TEXTS),
            "exitCodes": Field("exit_codes", list_of(integer())),
            "includingInitContainers": Field("init_containers", boolean),
        },
    ),
    check=check_scope,
    run=run,
)
