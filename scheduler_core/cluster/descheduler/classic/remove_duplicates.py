"""RemoveDuplicates of v0.9.0: all pods of an owner on a node but the first."""

from __future__ import annotations

from typing import Any

from scheduler_core.cluster.descheduler.classic.filters import evictable_on, is_full
from scheduler_core.cluster.descheduler.classic.params import PARAMS
from scheduler_core.cluster.descheduler.facts import PodFacts
from scheduler_core.cluster.descheduler.strategy import BALANCE, CLASSIC, Strategy, StrategyContext


def run(context: StrategyContext, params: Any) -> None:
    """Evict node by node; owners of one kind and name are one, whatever their namespace."""
    del params
    for node in context.nodes:
        by_owner: dict[str, list[PodFacts]] = {}
        for pod in evictable_on(context, node):
            for owner in pod.owners:
                by_owner.setdefault(f"{owner['kind']}/{owner['name']}", []).append(pod)
        for name, pods in by_owner.items():
            for pod in pods[1:]:
                if is_full(context, node):
                    break
                context.evictions.ask(pod, f"{len(pods)} pods of {name} on node {node.name}")


STRATEGY = Strategy(
    name="RemoveDuplicates",
    edition=CLASSIC,
    point=BALANCE,
    words="evicts all pods of an owner on a node but the first",
    args=PARAMS,
    run=run,
)
