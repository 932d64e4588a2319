"""What Node's tests read: the editor's schemas, and how the engine decides a cycle with other weights."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from playground.edits.configuration import configured
from playground.panels.priorities import priorities
from playground.schemas.document import packed
from scheduler_core import Simulation, load, simulate
from scheduler_core.record.cycle import Cycle
from scheduler_core.scenario.history import Moment
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_11.policy.providers import DEFAULT_PRIORITIES
from scheduler_core.schedulers.v1_37.configuration import compile_v1_37_configuration
from tests.e2e import bundles

#: cpu, memory in Gi, and what the node is already asked for of each: LeastRequested and Balanced disagree.
SHAPES = ((4, 16, 1, 12), (8, 8, 6, 2), (16, 64, 2, 48), (8, 32, 5, 4), (4, 32, 2, 2), (32, 32, 20, 25))
PODS = 8
WEIGHED = ("LeastRequestedPriority", "BalancedResourceAllocation", "NodeAffinityPriority")


def cluster(nodes: int, pods: int = PODS) -> str:
    """Return a cluster in which priorities disagree about the best node, with ties among alike nodes."""
    documents: list[dict[str, Any]] = []
    for at in range(nodes):
        cpu, memory, used, held = SHAPES[at % len(SHAPES)]
        name = f"n{at:04d}"
        documents.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": {"disk": "ssd" if at % 3 else "hdd"}},
                "status": {"allocatable": {"cpu": str(cpu), "memory": f"{memory}Gi", "pods": "110"}},
            }
        )
        documents.append(_pod(f"held-{at}", f"{used}", f"{held}Gi", node=name))
    documents += [_pod(f"new-{at}", "500m", "1Gi", affinity=at % 3) for at in range(pods)]
    return bundles.bundle(*documents)


def _pod(name: str, cpu: str, memory: str, node: str = "", affinity: int = 0) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": memory}}}]
    }
    if node:
        spec["nodeName"] = node
    if affinity:
        term = {
            "weight": affinity * 3,
            "preference": {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]},
        }
        spec["affinity"] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


TEXT = cluster(13)
#: Weights at which the engine is asked who wins: where the winner flips they are dense.
ASKED = (*range(13), 25, 100, 5000, 40_000)
SCORED = ("NodeResourcesFit", "NodeResourcesBalancedAllocation", "NodeAffinity", "TaintToleration")
USUAL = compile_v1_37_configuration(None).profiles["default-scheduler"].weights


def again(scenario: Scenario, decided: list[Cycle], index: int, weights: dict[str, int]) -> Cycle:
    """Let the engine decide a cycle again with other weights, on the cluster that the cycle found."""
    priorities = [
        {"name": name, "weight": weights.get(name, weight)}
        for name, weight in DEFAULT_PRIORITIES
        if weights.get(name, weight)
    ]
    policy = {"apiVersion": "v1", "kind": "Policy", "priorities": priorities}
    simulation = Simulation(replace(scenario, policy=policy))
    simulation.replay([cycle.decision for cycle in decided[: index - 1]])
    cycle = simulation.step()
    assert cycle is not None
    return cycle


def tried(seed: int) -> Iterator[tuple[int, dict[str, int]]]:
    """Yield cycles with random weights: small ones, where ties are common, and large ones."""
    rng = random.Random(seed)
    for _ in range(24):
        most = rng.choice((3, 12, 5000))
        yield rng.randint(1, PODS), {name: rng.randint(0, most) for name in WEIGHED}


def newest() -> list[dict[str, Any]]:
    """Return the cluster's documents, with v1.37 as its scheduler."""
    kept = [one for one in json.loads(TEXT)["items"] if one["kind"] != "SimulationSettings"]
    return [*kept, {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "scheduler": "v1.37"}]


def weighed(before: Cycle, weights: dict[str, int], after: Cycle) -> dict[str, Any]:
    """Return a cycle as a page gets it, the weights that are tried on it, and what the engine decides."""
    assert after.totals is not None
    return {
        **_seen(before),
        "weights": weights,
        "totals": {
            after.nodes[node]: total
            for node, total in zip(after.feasible.tolist(), after.totals.tolist(), strict=True)
        },
        "ties": [after.nodes[node] for node in after.ties.tolist()],
        "winner": after.node,
    }


def _seen(cycle: Cycle) -> dict[str, Any]:
    return {"names": list(cycle.nodes), "part": priorities(cycle, range(len(cycle.nodes)))}


def weighings_of_v1_11(scenario: Scenario, decided: list[Cycle]) -> Iterator[dict[str, Any]]:
    """Yield cycles with random weights."""
    for index, weights in tried(7):
        yield weighed(decided[index - 1], weights, again(scenario, decided, index, weights))


def weighings_of_v1_37() -> Iterator[dict[str, Any]]:
    """Yield cycles of the newest release with random weights, small ones, so that there are ties."""
    text = bundles.bundle(*newest())
    decided = list(simulate(load(text)))
    rng = random.Random(3)
    for index in (1, 4, PODS):
        for most in (1, 2, 40):
            weights = {name: rng.randint(name == SCORED[0], most) for name in SCORED}
            weights = dict.fromkeys(USUAL, 0) | weights
            moment = Moment(1, index - 1)
            other = configured(text, "weights", "", json.dumps(weights), moment)["text"]
            yield weighed(decided[index - 1], weights, list(simulate(load(other)))[index - 1])


def flips(scenario: Scenario, decided: list[Cycle]) -> Iterator[dict[str, Any]]:
    """Yield who wins cycles by the weight of one priority, the others as usual."""
    base = dict(DEFAULT_PRIORITIES)
    for index in (2, 5):
        for name in WEIGHED:
            asked = [(at, again(scenario, decided, index, {**base, name: at}).node) for at in ASKED]
            yield {**_seen(decided[index - 1]), "name": name, "winners": asked}


def recorded() -> dict[str, Any]:
    """Return everything: the ``schemas``, ``weighings`` and ``flips``."""
    scenario = load(TEXT)
    decided = list(Simulation(scenario))
    return {
        "schemas": json.loads(gzip.decompress(packed()[0])),
        "weighings": [*weighings_of_v1_11(scenario, decided), *weighings_of_v1_37()],
        "flips": list(flips(scenario, decided)),
    }
