"""RemovePodsHavingTooManyRestarts: pods whose containers were restarted too often."""

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
from scheduler_core.cluster.descheduler.container_states import CONTAINERS, INIT, reasons, restarts
from scheduler_core.cluster.descheduler.eviction import NODE_LIMIT
from scheduler_core.cluster.descheduler.facts import PodFacts
from scheduler_core.cluster.descheduler.strategy import DESCHEDULE, Strategy, StrategyContext
from scheduler_core.kubernetes.readers import Field, boolean, integer

STATES = frozenset(("CrashLoopBackOff", "Running"))


class RemovePodsHavingTooManyRestartsArgs(PodScope, frozen=True, kw_only=True):
    """RemovePodsHavingTooManyRestartsArgs."""

    threshold: int = 0
    init_containers: bool = False
    states: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of the status whose containers count."""
        return (CONTAINERS, INIT)[: 1 + self.init_containers]

    def wants(self, pod: PodFacts) -> bool:
        """Return whether a pod was restarted often enough, and is in one of the states if any are given."""
        if restarts(pod, self.fields) < self.threshold:
            return False
        found = {pod.phase, *reasons(pod, self.fields, ("waiting",))}
        return not self.states or bool(found & set(self.states))


def _check(args: RemovePodsHavingTooManyRestartsArgs) -> Iterator[InvalidArguments]:
    yield from check_scope(args)
    if args.threshold < 1:
        yield InvalidArguments(
            "invalid PodsHavingTooManyRestarts threshold", "podRestartThreshold", "write at least 1"
        )
    for place, one in enumerate(args.states):
        if one not in STATES:
            text = f"states must be one of [{' '.join(sorted(STATES))}]"
            yield InvalidArguments(text, f"states[{place}]", "write one of them")
            return


def run(context: StrategyContext, args: RemovePodsHavingTooManyRestartsArgs) -> None:
    """Evict node by node the pods with the most restarts first."""
    for node in context.nodes:
        pods = context.listing.all_pods_on(node.name)
        found = [pod for pod in pods if args.has(pod) and args.wants(pod) and context.admits(pod)]
        for pod in sorted(found, key=lambda one: -restarts(one, args.fields)):
            if context.evict(pod, f"{restarts(pod, args.fields)} restarts") == NODE_LIMIT:
                break


STRATEGY = Strategy(
    name="RemovePodsHavingTooManyRestarts",
    point=DESCHEDULE,
    words="evicts pods whose containers were restarted podRestartThreshold times or more",
    args=args_reader(
        RemovePodsHavingTooManyRestartsArgs,
        {
            **SCOPE_FIELDS,
            "podRestartThreshold": Field("threshold", integer()),
            "includingInitContainers": Field("init_containers", boolean),
            "states": Field("states", TEXTS),
        },
    ),
    check=_check,
    starting={"podRestartThreshold": 100},
    run=run,
)
