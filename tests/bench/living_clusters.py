"""What a cluster that lives costs, next to one that only schedules: a row for each aim of the control plane.

A figure is a ratio of two runs in one process, or CPU seconds or MiB of one. ``bound`` is what it was last
measured as, which whoever improves it lowers; ``goal`` is where it is to be.
"""

from __future__ import annotations

import gc
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scheduler_core import Scenario, load, simulate
from scheduler_core.authoring.verbs import planned
from scheduler_core.compare.calm import CalmCluster
from scheduler_core.run import Stepper
from tests.bench.measure import run
from tests.bench.workloads import Workload
from tests.parts import REPOSITORY

SECONDS = 1_800  # for one process
LIVING = "\n---\nkind: SimulationSettings\nscheduler: v1.37\ntime: virtual\n"
PLAIN = Workload("plain", 5_000, 300, "")
ZONES = 3
ZONE_LABEL = "topology.kubernetes.io/zone"
DRAIN = [("drain", "n00000")]

Figures = dict[str, float]


class Size(NamedTuple):
    """A cluster: nodes in three zones, and the pods of Deployments."""

    nodes: int
    deployments: int
    replicas: int


CYCLES, DRAINED, ZONE = Size(1_000, 100, 100), Size(500, 30, 100), Size(5_000, 500, 100)
AUDITED = Size(12, 6, 10)


class Aim(NamedTuple):
    """A figure, what it was last measured as, and what it is to be."""

    work: str
    figure: str
    unit: str
    bound: float
    goal: float


AIMS = (
    Aim("a living cycle to a plain one, 1,000 nodes × 10,000 pods", "cycle", "×", 3, 1.5),
    Aim("fork of that run", "fork", "s", 0.04, 0.02),
    Aim("what-if of a drain to its parent's run, 500 nodes × 3,000 pods", "drain", "×", 0.3, 0.3),
    Aim("a case of an audit, 12 nodes × 60 pods", "cases", "ms", 35, 5),
    Aim("a zone lost, 5,000 nodes × 50,000 pods", "zone", "s", 90, 60),
    Aim("memory of that", "zone_mib", "MiB", 520, 500),
    Aim("plain v1.37 to v1.11, 5,000 nodes", "release", "×", 3, 3),
    Aim("simulate of 20 nodes × 40 pods, the process", "process", "s", 0.4, 0.4),
    Aim("explain of a dump of 100 nodes and 300 pods, the process", "explain", "s", 0.4, 0.4),
)


def text_of(size: Size, *, lost: int | None = None) -> str:
    """Return a bundle's text; the nodes of the first zone fail at the second ``lost``."""
    nodes = (_node(number, lost if number % ZONES == 0 else None) for number in range(size.nodes))
    return "---\n".join((*nodes, *(_deployment(number, size) for number in range(size.deployments))))


def _node(number: int, fails: int | None) -> str:
    name, marks = f"n{number:05}", "" if fails is None else f", annotations: {{podstep/fails-at: '{fails}'}}"
    labels = f"{{kubernetes.io/hostname: {name}, topology.kubernetes.io/zone: z{number % ZONES}}}"
    return (
        f"apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {labels}{marks}}}\nstatus:\n"
        "  allocatable: {cpu: '16', memory: 64Gi, pods: '110'}\n"
        "  conditions: [{type: Ready, status: 'True'}]\n"
    )


def _deployment(number: int, size: Size) -> str:
    labels = f"{{app: a{number}}}"
    containers = "[{name: c, image: i, resources: {requests: {cpu: 100m, memory: 128Mi}}}]"
    return (
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d{number}}}\nspec:\n"
        f"  replicas: {size.replicas}\n  selector: {{matchLabels: {labels}}}\n  template:\n"
        f"    metadata: {{labels: {labels}}}\n    spec: {{containers: {containers}}}\n"
    )


def _timed(scenario: Scenario) -> tuple[Stepper, float]:
    """Return a run at its end, and the CPU seconds that it took."""
    simulation, began = simulate(scenario, trace=False), time.process_time()
    for _ in simulation:
        pass
    return simulation, time.process_time() - began


def cycles(size: Size = CYCLES) -> Figures:
    """Run a cluster with its controllers and without; fork the former at its end."""
    text = text_of(size)
    plain, seconds = _timed(load(text))
    living, longer = _timed(load(text + LIVING))
    began = time.process_time()
    living.fork(trace=False)
    fork = time.process_time() - began
    return {"cycle": longer / living.index / (seconds / plain.index), "fork": fork}


def drain(size: Size = DRAINED) -> Figures:
    """Run a cluster; drain a node of it, from where it is at rest."""
    parent = load(text_of(size))
    made = [entry for _, _, entries in planned(parent.documents, DRAIN) for entry in entries]
    _, seconds = _timed(parent)
    calm = CalmCluster(parent)
    began = time.process_time()
    calm.outcome(made)
    return {"drain": (time.process_time() - began) / seconds}


def cases(size: Size = AUDITED) -> Figures:
    """Drain each node of a small cluster in turn, as an audit does."""
    parent = load(text_of(size))
    calm = CalmCluster(parent)
    began = time.process_time()
    for number in range(size.nodes):
        plan = planned(parent.documents, [("drain", f"n{number:05}")])
        calm.outcome([entry for _, _, entries in plan for entry in entries])
    return {"cases": 1000 * (time.process_time() - began) / size.nodes}


def zone(size: Size = ZONE) -> Figures:
    """Run a cluster that loses a third of its nodes at once."""
    _, seconds = _timed(load(text_of(size, lost=60) + LIVING))
    return {"zone": seconds, "zone_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def release(workload: Workload = PLAIN, times: int = 3) -> Figures:
    """Schedule the same plain pods by v1.37 and by v1.11, in turn."""
    best = {"v1.37": math.inf, "v1.11": math.inf}
    for name in [*best] * times:
        best[name] = min(best[name], run(workload, "off", name)["cpu_seconds"])
    return {"release": best["v1.37"] / best["v1.11"]}


def process() -> Figures:
    """Simulate a small bundle, and explain a pod of a dump, from the command line."""
    with tempfile.TemporaryDirectory() as folder:
        bundle, dump = Path(folder) / "bundle.yaml", Path(folder) / "dump.json"
        bundle.write_text(text_of(Size(20, 1, 40)))
        dump.write_text(dump_of(100, 300))
        return {
            "process": _of_command("simulate", str(bundle)),
            "explain": _of_command("explain", str(dump), "--pod", "p0"),
        }


def dump_of(nodes: int, pods: int) -> str:
    """Return what ``kubectl get nodes,pods -o json`` prints of pods of many sizes; ``p0`` fits nowhere."""
    status = {
        "allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    items: list[dict[str, Any]] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": f"n{number}",
                "uid": f"n{number}",
                "labels": {ZONE_LABEL: f"z{number % ZONES}"},
            },
            "status": status,
        }
        for number in range(nodes)
    ]
    for number in range(pods):
        requests = {"cpu": f"{100 + number}m" if number else "9", "memory": f"{64 + number}Mi"}
        spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]}
        place = {"nodeName": f"n{number % nodes}"} if number else {}
        meta = {
            "name": f"p{number}",
            "uid": f"p{number}",
            "namespace": "default",
            "labels": {"app": f"a{number % 20}"},
        }
        items.append({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {**spec, **place}})
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=4)


def _of_command(*arguments: str) -> float:
    """Return the CPU seconds of a command's process."""
    before = _spent()
    command = [sys.executable, "-m", "scheduler_core", *arguments]
    subprocess.run(command, cwd=REPOSITORY, capture_output=True, timeout=SECONDS, check=True)
    return _spent() - before


def _spent() -> float:
    """Return the CPU seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


WORK: Mapping[str, Callable[[], Figures]] = {
    one.__name__: one for one in (process, release, drain, cases, cycles, zone)
}


def measure_living(names: Sequence[str] = tuple(WORK), times: int = 1) -> list[dict[str, Any]]:
    """Return the aims with the least of each figure; every piece of work has a process of its own."""
    best: Figures = {}
    for name in names:
        for _ in range(times):
            for figure, value in _run(name).items():
                best[figure] = min(value, best.get(figure, value))
    return [{**aim._asdict(), "value": best[aim.figure]} for aim in AIMS if aim.figure in best]


def _run(name: str) -> Figures:
    command = [sys.executable, "-m", "tests.bench.living_clusters", name]
    done = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=SECONDS, check=True
    )
    found: Figures = json.loads(done.stdout)
    return found


def exceeded(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Name each figure above its bound."""
    for row in rows:
        if row["value"] > row["bound"]:
            yield f"{row['work']}: {row['value']:.2f} {row['unit']}, the bound is {row['bound']:g}"


def main(name: str) -> None:
    """Print the figures of one piece of work; few garbage collections, as in the command line."""
    gc.set_threshold(50_000, 20, 50)
    print(json.dumps(WORK[name]()))


if __name__ == "__main__":
    main(*sys.argv[1:])
