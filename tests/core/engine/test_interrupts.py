"""Whatever schedules or acts, the engine asks all the time whether to go on."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from scheduler_core import load
from scheduler_core.interrupts import interrupted_by
from scheduler_core.run import simulate

NODES, PODS = 20, 120
GANGS = {"apiVersion": "scheduling.incubator.k8s.io/v1alpha1"}
Documents = list[dict[str, Any]]


def _settings(**more: Any) -> dict[str, Any]:
    return {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "until": 100, **more}


def _cluster(scheduler: str = "", *, on: int = 0) -> Documents:
    """Return nodes and pods; of the pods, all are on the first ``on`` nodes if that is set."""
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    allocatable = {"cpu": "32", "memory": "64Gi", "pods": "110"}
    made: Documents = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"n{at}"},
            "status": {"allocatable": allocatable, **ready},
        }
        for at in range(NODES)
    ]
    for at in range(PODS):
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "u", "controller": True}
        spec: dict[str, Any] = {
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]
        }
        meta = {"name": f"p{at}", "annotations": {"scheduling.k8s.io/group-name": "g"}}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
        if scheduler:
            spec["schedulerName"] = scheduler
        if on:
            spec["nodeName"] = f"n{at % on}"
            pod |= {
                "status": {"phase": "Running"},
                "metadata": {"name": f"p{at}", "ownerReferences": [owner]},
            }
        made.append(pod)
    return made


def _beside(name: str) -> Documents:
    peers = [{"name": "default-scheduler", "runs": "v1.37"}, {"name": name}]
    queue = {**GANGS, "kind": "Queue", "metadata": {"name": "default"}, "spec": {"weight": 1}}
    group = {**GANGS, "kind": "PodGroup", "metadata": {"name": "g"}, "spec": {"minMember": 1}}
    return [_settings(time="virtual", schedulers=peers), queue, group, *_cluster(name)]


def _descheduled() -> Documents:
    config = [
        {
            "name": "LowNodeUtilization",
            "args": {"thresholds": {"cpu": 10}, "targetThresholds": {"cpu": 20}},
        },
        {"name": "DefaultEvictor"},
    ]
    plugins = {"balance": {"enabled": ["LowNodeUtilization"]}}
    policy = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [{"name": "p", "pluginConfig": config, "plugins": plugins}],
    }
    return [_settings(scheduler="v1.37", descheduler={"interval": "60s"}), policy, *_cluster(on=4)]


@pytest.mark.parametrize(
    "documents",
    [lambda: _beside("poseidon"), lambda: _beside("kube-batch"), _descheduled],
    ids=["firmament", "kube-batch", "descheduler"],
)
def test_a_run_asks_at_least_once_a_pod(documents: Callable[[], Documents]) -> None:
    """Also a round, a session or a pass that is about all pods at once."""
    scenario = load(json.dumps({"apiVersion": "v1", "kind": "List", "items": documents()}))
    asked = 0

    def look() -> None:
        nonlocal asked
        asked += 1

    with interrupted_by(look):
        run = simulate(scenario, trace=False)
        before = asked
        while run.step() is not None:
            pass
    assert before >= NODES + PODS
    assert asked - before >= PODS
