"""Recorded lives of a v1.37 cluster as users' scenarios: what happens in them happens in the records too."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from scheduler_core import load
from scheduler_core.cluster.v1_37.node_zones import zone_of
from scheduler_core.cluster.v1_37.objects import CLUSTER_SCOPED
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.run import simulate
from scheduler_core.run.living.timeline import Timeline
from scheduler_core.run.several.control_plane import ControlPlaneManager
from scheduler_core.run.several.lone import LoneSimulation
from tests.core.several.test_lone import VIRTUAL, bundle, history

RECORDS = Path(__file__).parents[2] / "conformance" / "data" / "life-v1.37.jsonl.gz"
UNSEEN = ("unschedulable", "nominated", "unnominated", "refused")
"""What the API server of the control plane does not see, as the scheduler writes to the typed one."""
VERSIONS = {
    "Deployment": "apps/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
}
VERSIONS |= {"Job": "batch/v1", "PodDisruptionBudget": "policy/v1"}

LIVES = [
    "life-1-0002",
    "life-1-0077",
    "life-1-0079",
    "life-1-0081",
    "life-1-0150",
    "life-1-0177",
    "life-1-0180",
    "life-1-0191",
    "life-1-0203",
    "life-1-0222",
    "life-1-0225",
    "life-1-0237",
    "life-1-0246",
    "life-1-0293",
    "life-1-0294",
    "life-1-0299",
    "life-1-0301",
    "life-1-0305",
    "life-1-0322",
    "life-1-0349",
    "life-1-0352",
    "life-1-0369",
    "life-1-0376",
    "life-1-0401",
    "life-1-0437",
    "life-1-0451",
    "life-1-0472",
    "life-1-0489",
    "life-1-0502",
    "life-1-0519",
    "life-1-0540",
]
"""Drains, failing nodes and zones, rollouts, scaling, StatefulSets, DaemonSets, Jobs, budgets, volumes."""


def target(step: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    """Return the part of an operation that names an object."""
    meta = {"name": name}
    if kind not in CLUSTER_SCOPED:
        meta["namespace"] = step.get("namespace") or "default"
    return {"typeMeta": {"apiVersion": VERSIONS.get(kind, "v1"), "kind": kind}, "objectMeta": meta}


def nodes_of(step: dict[str, Any], objects: Iterable[dict[str, Any]]) -> list[str]:
    """Return the names of the nodes that a step is about."""
    zone = f":\0:{step.get('zone')}"
    named = step.get("nodes") or ([step["node"]] if step.get("node") else [])
    found = (one for one in objects if one["kind"] == "Node" and zone_of(one) == zone)
    return named or [one["metadata"]["name"] for one in found]


NODES: dict[str, Any] = {
    "cordon": {"spec": {"unschedulable": True}},
    "uncordon": {"spec": {"unschedulable": None}},
    "drain": {"spec": {"unschedulable": True}, "metadata": {"annotations": {"podstep/drain": "true"}}},
    "fail": {"metadata": {"annotations": {"podstep/fails-at": "NOW"}}},
    "recover": {"metadata": {"annotations": {"podstep/recovers-at": "NOW"}}},
}


def operations(record: dict[str, Any], now: int = 0) -> Iterator[dict[str, Any]]:
    """Yield a record's steps as operations of a scenario."""
    for step in record["steps"]:
        do = step["do"]
        if do == "advance":
            now += step["seconds"]
        elif do == "create":
            yield {"time": now, "createOperation": {"object": step["object"]}}
        elif do == "delete":
            yield {"time": now, "deleteOperation": target(step, step["kind"], step["name"])}
        elif do in ("patch", "scale"):
            field = "parallelism" if step["kind"] == "Job" else "replicas"
            body = step["patch"] if do == "patch" else {"spec": {field: step["replicas"]}}
            yield _patched(step, step["kind"], step["name"], now, body)
        for node in nodes_of(step, record["objects"]) if do in NODES or do == "deleteNode" else ():
            if do == "deleteNode":
                yield {"time": now, "deleteOperation": target(step, "Node", node)}
            else:
                yield _patched(step, "Node", node, now, NODES[do])


def _patched(step: dict[str, Any], kind: str, name: str, now: int, body: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(body).replace("NOW", str(now))
    return {"time": now, "patchOperation": {**target(step, kind, name), "patch": text}}


def lived(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what happens in a record's scenario."""
    seconds = sum(step.get("seconds", 0) for step in record["steps"])
    settings = {**VIRTUAL, "until": seconds}
    watch = ControlPlaneManager._watch
    timelines: list[Timeline] = []

    def watched(manager: ControlPlaneManager, server: ApiServer) -> None:
        timelines.append(Timeline(server))
        watch(manager, server)

    with patch.object(ControlPlaneManager, "_watch", watched):
        given = [record["config"]] if record.get("config") else []
        text = bundle(settings, *given, *record["objects"], history(*operations(record)))
        made = simulate(load(text), trace=False)
    assert isinstance(made, LoneSimulation)
    list(made)
    return timelines[0].document()


def moments(timeline: list[dict[str, Any]]) -> dict[str, list[int]]:
    """Return when each thing happens, in order."""
    found: dict[str, list[int]] = defaultdict(list)
    for entry in timeline:
        if entry["what"] not in UNSEEN:
            what = {name: one for name, one in entry.items() if name not in ("time", "count")}
            found[json.dumps(what, sort_keys=True)] += [entry["time"]] * entry.get("count", 1)
    return {what: sorted(times) for what, times in found.items()}


def _records() -> dict[str, dict[str, Any]]:
    with gzip.open(RECORDS, "rt") as file:
        return {record["id"]: record for record in map(json.loads, file)}


@pytest.mark.parametrize("name", LIVES)
def test_a_life_goes_in_the_workbench_as_it_was_recorded(name: str) -> None:
    """Every entry of the timeline is there, within two seconds."""
    record = _records()[name]
    expected, actual = moments(record["expect"]["timeline"]), moments(lived(record))
    assert expected.keys() == actual.keys()
    for what, times in expected.items():
        assert len(times) == len(actual[what]), what
        assert all(abs(one - other) <= 2 for one, other in zip(times, actual[what])), what
