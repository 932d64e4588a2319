"""RemoveDuplicates: spreads the pods of an owner evenly over the nodes on which they may run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from math import ceil

from scheduler_core.cluster.descheduler.arguments import (
    NAMESPACES,
    TEXTS,
    Namespaces,
    PodScope,
    args_reader,
    check_scope,
)
from scheduler_core.cluster.descheduler.eviction import NODE_LIMIT
from scheduler_core.cluster.descheduler.facts import PodFacts
from scheduler_core.cluster.descheduler.strategy import BALANCE, Strategy, StrategyContext
from scheduler_core.kubernetes.readers import Field

OwnerKey = tuple[str, str, str, str]
"""Namespace, kind and name of an owner, and the images of its pod."""


class RemoveDuplicatesArgs(PodScope, frozen=True, kw_only=True):
    """RemoveDuplicatesArgs."""

    exclude_owner_kinds: tuple[str, ...] = ()


def _images(pod: PodFacts) -> list[str]:
    return sorted(one.get("image") or "" for one in pod.spec.get("containers") or ())


def _owner_keys(pod: PodFacts) -> list[OwnerKey]:
    images = "#".join(_images(pod))
    return [(pod.namespace, one["kind"], one["name"], images) for one in pod.owners]


def _identity(pod: PodFacts) -> tuple[str, ...]:
    """Return the sorted keys of a pod's owners and images, which are equal for duplicates."""
    images = _images(pod)
    keys = (f"{pod.namespace}/{one['kind']}/{one['name']}" for one in pod.owners)
    return tuple(sorted(f"{key}/{image}" for key in keys for image in images))


def _considered(context: StrategyContext, args: RemoveDuplicatesArgs, node: str) -> Iterator[PodFacts]:
    for pod in context.listing.pods_on(node):
        kinds = {one["kind"] for one in pod.owners}
        if args.has(pod) and kinds and not kinds & set(args.exclude_owner_kinds) and context.admits(pod):
            yield pod


def run(context: StrategyContext, args: RemoveDuplicatesArgs) -> None:
    """Evict duplicates on nodes with more of an owner's pods than the even share, rounded up."""
    total: Counter[OwnerKey] = Counter()
    duplicates: dict[OwnerKey, dict[str, list[PodFacts]]] = defaultdict(lambda: defaultdict(list))
    for node in context.nodes:
        seen = set()
        for pod in _considered(context, args, node.name):
            keys, identity = _owner_keys(pod), _identity(pod)
            total.update(keys)
            if identity in seen:
                for key in keys:
                    duplicates[key][node.name].append(pod)
            seen.add(identity)
    for key, by_node in duplicates.items():
        _spread(context, total[key], by_node)


def _spread(context: StrategyContext, total: int, by_node: dict[str, list[PodFacts]]) -> None:
    targets = _targets(context, (pod for pods in by_node.values() for pod in pods))
    if len(targets) < 2:
        return
    share = ceil(total / len(targets))
    for node, pods in by_node.items():
        reason = f"{len(pods) + 1} on {node}, {total} on {len(targets)} possible nodes: at most {share} each"
        for pod in pods[share - 1 :]:
            if context.evict(pod, reason) == NODE_LIMIT:
                break


def _targets(context: StrategyContext, pods: Iterable[PodFacts]) -> set[str]:
    """Return the nodes on which pods may run; pods with only one such node add none (getTargetNodes)."""
    targets: set[str] = set()
    for pod in {pod.placement_key: pod for pod in pods}.values():
        found = [one.name for one in context.nodes if pod.tolerates(one.hard_taints) and pod.selects(one)]
        if len(found) > 1:
            targets.update(found)
    return targets


STRATEGY = Strategy(
    name="RemoveDuplicates",
    point=BALANCE,
    words="evicts pods of an owner from nodes that have more of them than an even share",
    args=args_reader(
        RemoveDuplicatesArgs,
        {
            "namespaces": Field("namespaces", NAMESPACES),
            "excludeOwnerKinds": Field("exclude_owner_kinds", TEXTS),
        },
    ),
    defaults={"namespaces": Namespaces(), "excludeOwnerKinds": []},
    check=check_scope,
    run=run,
)
