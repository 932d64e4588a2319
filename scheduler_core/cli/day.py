"""A day of virtual time: pods that come, run and go on a cluster in which nothing happens in between."""

from __future__ import annotations

import random

from scheduler_core.cli.workloads import GIB, LABELS, bench_node
from scheduler_core.cluster.controllers.annotations import RUN
from scheduler_core.kubernetes.model import Container, ObjectMeta, Pod
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.settings.release import CACHING, VIRTUAL
from scheduler_core.settings.settings import Settings

DAY = 86_400.0  # seconds
SEED = 1
SHAPE = "day"
SHORTEST, LONGEST = 300.0, 14_400.0  # seconds that a pod runs
SIZES = (500, 1000, 2000, 4000)  # millicores


def day(nodes: int, pods: int) -> Scenario:
    """Return empty nodes, and pods created at random times of a day, each with a size and a duration.

    No policy: v1.11's predicates and priorities run under the framework's queue and clock.
    """
    lot = random.Random(SEED)  # noqa: S311 -- a workload, no secret
    moments = sorted(round(lot.uniform(0, DAY), 3) for _ in range(pods))
    return Scenario(
        title=f"A day of {pods:,} pods on {nodes:,} nodes",
        documents=(),
        objects=tuple(bench_node(number) for number in range(nodes)),
        operations=tuple(_created(number, moment, lot) for number, moment in enumerate(moments)),
        settings=Settings(time=VIRTUAL),
        presumed=CACHING,
    )


def _created(number: int, moment: float, lot: random.Random) -> Operation:
    name = f"pod-{number:05}"
    seconds = f"{lot.uniform(SHORTEST, LONGEST):.3f}"
    meta = ObjectMeta(name, "default", name, LABELS, annotations={RUN: seconds})
    pod = Pod(meta, containers=(Container("day", requests={"cpu": lot.choice(SIZES), "memory": GIB}),))
    return Operation(f"create-{name}", number + 1, moment, "create", "Pod", meta.key, pod, timed=True)
