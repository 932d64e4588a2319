"""The descheduler, Firmament and the optimum, measured: ``python -m tests.bench.systems NAME…``.

Without a name all are measured. A time depends on the machine; the rest is the same everywhere.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

from scheduler_core import load
from scheduler_core.cli.descheduler_report import descheduler_lines
from scheduler_core.compare.optimum.greed import price_of_greed
from scheduler_core.compare.optimum.objectives import OBJECTIVES
from scheduler_core.compare.optimum.optimum import find_optimum
from scheduler_core.compare.optimum.problem import problem_of
from scheduler_core.kubernetes.model import Node, Pod
from scheduler_core.run.table import simulate
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.firmament.record import RoundRecord

Document = Mapping[str, Any]

NODES, PODS = 1_000, 5_000
SMALL_NODES, SMALL_PODS, SECONDS = 100, 500, 10.0
HOUR = 3_600


def bundle(*documents: Document) -> Scenario:
    """Read documents."""
    return load("\n---\n".join(json.dumps(one) for one in documents))


def node(name: str, cpu: str = "16", memory: str = "64Gi") -> Document:
    """Return a ready node."""
    status = {
        "allocatable": {"cpu": cpu, "memory": memory, "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    meta = {"name": name, "labels": {"kubernetes.io/hostname": name}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": status}


def pod_spec(cpu: str, memory: str, **more: Any) -> Document:
    """Return the spec of a pod with one container."""
    requests = {"cpu": cpu, "memory": memory}
    return {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}], **more}


def workload(name: str, replicas: int, spec: Document) -> Document:
    """Return a Deployment."""
    template = {"metadata": {"labels": {"app": name}}, "spec": spec}
    wanted = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": wanted}


def descheduler() -> Iterator[str]:
    """Half of 1,000 nodes are full of 5,000 pods when the others join: passes until nothing changes."""
    policy = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [
            {
                "name": "even",
                "pluginConfig": [
                    {"name": "DefaultEvictor", "args": {}},
                    {
                        "name": "LowNodeUtilization",
                        "args": {"thresholds": {"cpu": 30}, "targetThresholds": {"cpu": 35}},
                    },
                ],
                "plugins": {"balance": {"enabled": ["LowNodeUtilization"]}},
            }
        ],
    }
    joining = [
        {"id": f"join-{number}", "time": HOUR / 60, "createOperation": {"object": node(f"new-{number:03}")}}
        for number in range(NODES // 2)
    ]
    scenario = bundle(
        {
            "apiVersion": "podstep/v1",
            "kind": "SimulationSettings",
            "scheduler": "v1.37",
            "descheduler": {"interval": "5m", "passes": 20},
        },
        policy,
        *(node(f"old-{number:03}") for number in range(NODES // 2)),
        *(workload(f"app-{number:02}", PODS // 50, pod_spec("1", "2Gi")) for number in range(50)),
        {
            "apiVersion": "simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1",
            "kind": "Scenario",
            "metadata": {"name": "scale-up"},
            "spec": {"operations": joining},
        },
    )
    simulation = simulate(scenario, trace=False)
    began, cycles = time.process_time(), sum(1 for _ in simulation)
    assert simulation.descheduler is not None
    yield f"{cycles:,} cycles in {time.process_time() - began:.1f} CPU s"
    passes = simulation.descheduler.passes
    for number, one in enumerate(passes, 1):
        spread = ", ".join(f"{name} {value:.1f}" for name, value in one.spread.items())
        evicted = len(list(one.record.evictions))
        yield f"pass {number} at {one.time:g} s: {evicted:,} evictions; before it {spread}"
    yield from descheduler_lines(simulation.descheduler)
    began = time.process_time()
    simulation.descheduler.run()
    yield f"one more pass, which finds nothing: {time.process_time() - began:.2f} CPU s"


def firmament() -> Iterator[str]:
    """1,000 nodes and 5,000 pods of 100 classes: the first round."""
    random = Random(1)
    spec = {"schedulerName": "poseidon"}
    scenario = bundle(
        {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "time": "virtual", "until": 60},
        *(node(f"n{number:04}", random.choice(("8", "16"))) for number in range(NODES)),
        *(
            workload(
                f"w{kind:02}", PODS // 100, pod_spec(f"{100 + 10 * kind}m", f"{128 + 8 * kind}Mi", **spec)
            )
            for kind in range(100)
        ),
    )
    for trace in (False, True):
        simulation = simulate(scenario, trace=trace)
        began = time.process_time()
        cycle = simulation.step()
        took = time.process_time() - began
        assert cycle is not None
        placed = len(cycle.decision.placements)
        record = cycle.session
        total = sum(one.cost for one in record.phases) if isinstance(record, RoundRecord) else None
        cost = "" if total is None else f", cost {total:,}"
        yield f"{'with' if trace else 'without'} its record: {placed:,} pods placed{cost}, {took:.1f} CPU s"


def optimum() -> Iterator[str]:
    """100 nodes and 500 pods, of which 100 run: the proven gap of each objective after 10 seconds."""
    random = Random(1)
    nodes = [node(f"n{number:03}", random.choice(("4", "8")), "16Gi") for number in range(SMALL_NODES)]
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"p{number:03}", "namespace": "default"},
            "spec": pod_spec(
                f"{random.choice((500, 1000, 1500, 2000))}m",
                f"{random.choice((512, 1024, 2048, 4096))}Mi",
                priority=random.choice((0, 100, 1000)),
                **({"nodeName": f"n{number % SMALL_NODES:03}"} if number < SMALL_PODS // 5 else {}),
            ),
        }
        for number in range(SMALL_PODS)
    ]
    settings = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "scheduler": "v1.37"}
    scenario = bundle(settings, *nodes, *pods)
    objects = scenario.objects
    listed = (
        [one for one in objects if isinstance(one, Node)],
        [one for one in objects if isinstance(one, Pod)],
    )
    for name in OBJECTIVES:
        move = name == "fewest-moves"
        wanted = ("most-pods", name) if name not in ("most-pods", "priorities") else (name,)
        found = find_optimum(problem_of(*listed, move=move), wanted, SECONDS)
        yield f"{name:14} " + "; ".join(
            f"{one.objective} {one.value:,}, bound {one.bound:,}, gap {one.gap:.2%}, {one.seconds:.1f} s"
            for one in found.proofs
        )
    beside = price_of_greed(scenario, 0, ("most-pods", "fragmentation"), SECONDS)
    for row in beside.rows:
        figures = row.figures
        assert figures is not None
        yield (
            f"{row.scheduler:10} places {figures.placed:,}, fragmentation {figures.fragmentation:,} ‰, "
            f"{figures.seconds:.1f} s"
        )


MEASURED: Mapping[str, Callable[[], Iterator[str]]] = {
    "descheduler": descheduler,
    "firmament": firmament,
    "optimum": optimum,
}


def main() -> None:
    """Print what is asked for."""
    for name in sys.argv[1:] or MEASURED:
        print(f"{name}: {MEASURED[name].__doc__}")
        for line in MEASURED[name]():
            print(f"  {line.strip()}", flush=True)


if __name__ == "__main__":
    main()
