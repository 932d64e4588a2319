"""kube-scheduler v1.37 beside others: alone and told at once it decides as in a run of its own."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from scheduler_core import load
from scheduler_core.scheduling.cycle import Decision
from scheduler_core.simulation.several.simulation import SeveralSimulation
from scheduler_core.simulation.v1_37.simulation import CurrentSimulation
from tests.core.trials import trials

ZONES = ("a", "b")
SETTINGS: dict[str, Any] = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "until": 30}
ALONE = {**SETTINGS, "scheduler": "v1.37"}
BESIDE = {
    **SETTINGS,
    "time": "virtual",
    "scheduler": "v1.22",
    "schedulers": [{"name": "default-scheduler", "runs": "v1.37"}],
}


def node(name: str, cpu: int, zone: str, taint: str) -> dict[str, Any]:
    """Return a node's manifest; ``taint`` is an effect, "" for none."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"zone": zone, "kubernetes.io/hostname": name}},
        "spec": {"taints": [{"key": "own", "value": "yes", "effect": taint}] if taint else []},
        "status": {
            "allocatable": {"cpu": str(cpu), "memory": "16Gi", "pods": "6"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


NODES = st.builds(
    node,
    st.just(""),
    st.integers(1, 4),
    st.sampled_from(ZONES),
    st.sampled_from(("", "", "PreferNoSchedule", "NoSchedule")),
)
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}
        ]
    }
}
EXTRAS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"nodeSelector": {"zone": "a"}},
    {"tolerations": [{"operator": "Exists"}]},
    {"topologySpreadConstraints": [SPREAD]},
    {"affinity": APART},
    {"schedulingGates": [{"name": "later"}]},
)


def pod(cpu: int, app: str, priority: int, extra: dict[str, Any]) -> dict[str, Any]:
    """Return a pod's manifest without a name."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "", "labels": {"app": app}},
        "spec": {
            "priority": priority,
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": f"{cpu}00m"}}}],
            **extra,
        },
    }


PODS = st.builds(
    pod,
    st.integers(1, 25),
    st.sampled_from(("web", "db")),
    st.sampled_from((0, 0, 5, 9)),
    st.sampled_from(EXTRAS),
)


def named(drawn: list[dict[str, Any]], prefix: str) -> list[dict[str, Any]]:
    """Return manifests with names of their own."""
    out = []
    for place, one in enumerate(drawn):
        meta = {**one["metadata"], "name": f"{prefix}{place}"}
        if "labels" in meta and "kubernetes.io/hostname" in meta["labels"]:
            meta["labels"] = {**meta["labels"], "kubernetes.io/hostname": meta["name"]}
        out.append({**one, "metadata": meta})
    return out


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return a cluster with what happens to it: later pods, a deleted one, a node that loses its taint."""
    nodes = named(draw(st.lists(NODES, min_size=1, max_size=5)), "n")
    pods = named(draw(st.lists(PODS, min_size=1, max_size=8)), "p")
    later = named(draw(st.lists(PODS, max_size=3)), "later")
    operations: list[dict[str, Any]] = [{"createOperation": {"object": one}} for one in later]
    if draw(st.booleans()):
        gone = draw(st.sampled_from(pods))["metadata"]["name"]
        target = {"typeMeta": {"apiVersion": "v1", "kind": "Pod"}, "objectMeta": {"name": gone}}
        operations.append({"deleteOperation": target})
    if draw(st.booleans()):
        opened = draw(st.sampled_from(nodes))["metadata"]["name"]
        target = {"typeMeta": {"apiVersion": "v1", "kind": "Node"}, "objectMeta": {"name": opened}}
        operations.append({"patchOperation": {**target, "patch": json.dumps({"spec": {"taints": []}})}})
    listed = [{"time": 2 + place, **one} for place, one in enumerate(operations)]
    scenario = {"kind": "Scenario", "spec": {"controllers": [], "operations": listed}}
    return [*nodes, *pods, scenario]


def bundle(settings: dict[str, Any], documents: list[dict[str, Any]]) -> str:
    """Return a bundle's text."""
    return "\n---\n".join(json.dumps(one) for one in (settings, *documents))


def decisions(simulation: SeveralSimulation | CurrentSimulation) -> list[Decision]:
    """Return all decisions of a run."""
    return [cycle.decision for cycle in simulation]


@tried(max_examples=trials(40), deadline=None)
@given(documents=histories())
def test_alone_and_told_at_once_it_decides_as_in_a_run_of_its_own(documents: list[dict[str, Any]]) -> None:
    """The shared clock, its own cluster that follows manifests, and the writes change no decision."""
    alone = CurrentSimulation(load(bundle(ALONE, documents)), trace=False)
    beside = SeveralSimulation(load(bundle(BESIDE, documents)), trace=False)
    assert decisions(beside) == decisions(alone)
    assert beside.placement() == alone.placement()
