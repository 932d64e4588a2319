"""A toy scheduler, "round robin in batches", and a cluster with pods for it and for the default scheduler."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.kubernetes.model import Pod
from scheduler_core.schedulers.v1_22.interface import Handle
from scheduler_core.schedulers.v1_22.record import Attempt
from tests.core.timed.parts import VIRTUAL, node, pod

NAME = "batches"
PERIOD = 5.0
MOST = 3


class RoundRobinInBatches:
    """Every five seconds, place up to three pods on the nodes in turn, whatever their size."""

    def __init__(self) -> None:
        self.placed = 0

    def next_time(self, now: float) -> float:
        return (now // PERIOD + 1) * PERIOD

    def attempt(self, framework: Handle, pending: Sequence[Pod]) -> Attempt:
        nodes, batch = framework.cluster.columns.names, pending[:MOST]
        if not nodes:
            return Attempt(0, framework.clock.now, batch[0].meta.key, "unschedulable", message="no nodes")
        turns = range(self.placed, self.placed + len(batch))
        self.placed += len(batch)
        (first, name), *rest = [(one.meta.key, nodes[turn % len(nodes)]) for one, turn in zip(batch, turns)]
        return Attempt(0, framework.clock.now, first, "scheduled", name, further=tuple(rest))


def batched(name: str) -> str:
    """Return the manifest of a pod that names the toy."""
    return pod(name).replace("spec: {", f"spec: {{schedulerName: {NAME}, ")


CLUSTER = (VIRTUAL, node("n1"), node("n2"), *(batched(f"b{number}") for number in range(5)), pod("p"))
BATCHES = (
    (("default/b0", "n1"), ("default/b1", "n2"), ("default/b2", "n1")),
    (("default/b3", "n2"), ("default/b4", "n1")),
)
