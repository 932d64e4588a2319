"""RemovePodsViolatingNodeAffinity: pods that their node affinity no longer wants on their node."""

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
from scheduler_core.cluster.descheduler.facts import PREFERRED, REQUIRED, NodeFacts, PodFacts
from scheduler_core.cluster.descheduler.node_fit import fits_any
from scheduler_core.cluster.descheduler.record import NO_TARGET
from scheduler_core.cluster.descheduler.strategy import DESCHEDULE, Strategy, StrategyContext
from scheduler_core.cluster.v1_37.objects import term_matches
from scheduler_core.kubernetes.readers import Field


class RemovePodsViolatingNodeAffinityArgs(PodScope, frozen=True, kw_only=True):
    """RemovePodsViolatingNodeAffinityArgs."""

    node_affinity_type: tuple[str, ...] = ()


def _check(args: RemovePodsViolatingNodeAffinityArgs) -> Iterator[InvalidArguments]:
    if not args.node_affinity_type:
        yield InvalidArguments("nodeAffinityType needs to be set", "nodeAffinityType", f"write [{REQUIRED}]")
    yield from check_scope(args)


def _weight(pod: PodFacts, node: NodeFacts) -> int:
    """Return the sum of the weights of the preferred terms that match a node."""
    terms = pod.node_affinity.get(PREFERRED) or ()
    return sum(one["weight"] for one in terms if term_matches(one.get("preference") or {}, node.manifest))


def _broken(context: StrategyContext, pod: PodFacts, node: NodeFacts) -> str:
    """Return why required node affinity does not want a pod on its node, "" if it does."""
    del context
    if pod.node_affinity.get(REQUIRED) is None or pod.selects(node):
        return ""
    return f"the labels of node {node.name} do not match the required node affinity"


def _surpassed(context: StrategyContext, pod: PodFacts, node: NodeFacts) -> str:
    """Return why preferred node affinity wants a pod elsewhere, "" if it does not."""
    if not pod.node_affinity.get(PREFERRED):
        return ""
    best, own = max(_weight(pod, one) for one in context.nodes), _weight(pod, node)
    return f"preferred weight {best} elsewhere, {own} on node {node.name}" if max(best, 0) > own else ""


TYPES = {REQUIRED: _broken, PREFERRED: _surpassed}


def run(context: StrategyContext, args: RemovePodsViolatingNodeAffinityArgs) -> None:
    """Evict node by node, for each type of affinity in the order given."""
    for kind in args.node_affinity_type:
        if kind not in TYPES:
            context.stop(f"invalid nodeAffinityType {kind}")
            continue
        for node in context.nodes:
            found = [*_violating(context, args, node, kind)]
            for pod, reason in found:
                if context.evict(pod, reason) == NODE_LIMIT:
                    break


def _violating(
    context: StrategyContext, args: RemovePodsViolatingNodeAffinityArgs, node: NodeFacts, kind: str
) -> Iterator[tuple[PodFacts, str]]:
    for pod in context.listing.pods_on(node.name):
        reason = TYPES[kind](context, pod, node) if args.has(pod) else ""
        if not reason or not context.admits(pod):
            continue
        if fits_any(context.listing, pod, context.nodes):
            yield pod, reason
        else:
            context.evictions.note(pod, NO_TARGET, f"{reason}; it fits no node")


STRATEGY = Strategy(
    name="RemovePodsViolatingNodeAffinity",
    point=DESCHEDULE,
    words="evicts pods whose node affinity does not match their node, or prefers another node",
    args=args_reader(
        RemovePodsViolatingNodeAffinityArgs,
        {**SCOPE_FIELDS, "nodeAffinityType": Field("node_affinity_type", TEXTS)},
    ),
    check=_check,
    starting={"nodeAffinityType": ["requiredDuringSchedulingIgnoredDuringExecution"]},
    run=run,
)
