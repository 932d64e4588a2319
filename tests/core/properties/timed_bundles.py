"""Random clusters in virtual time: PodGroups of both APIs, every controller, operations, odd numbers."""

from __future__ import annotations

import json
from typing import Any

from tests.conformance.random_records import Dice, Manifest

APIS = (
    ("scheduling.sigs.k8s.io/v1alpha1", "pod-group.scheduling.sigs.k8s.io", "v1beta2"),
    ("scheduling.x-k8s.io/v1alpha1", "scheduling.x-k8s.io/pod-group", "v1"),
)
COUNTS = (0, 1, 2, 3, 5)
SECONDS = ("0", "0.000001", "0.001", "1", "7", "60", "100000")
POINTS = ("preFilter", "postFilter", "permit", "reserve", "postBind")
WORKLOADS = ("ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job")
SETTINGS: Manifest = {"apiVersion": "podstep/v1", "kind": "SimulationSettings", "time": "virtual"}
SCENARIO = "simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1"
#: What an operation is about: kind, name, API version, and a patch of it.
TARGETS: tuple[tuple[str, str, str, Manifest], ...] = (
    ("PodGroup", "g", "", {"spec": {"minMember": 0}}),
    (
        "Deployment",
        "deployment",
        "apps/v1",
        {"spec": {"replicas": 4, "template": {"metadata": {"labels": {"v": "2"}}}}},
    ),
    ("Job", "job", "batch/v1", {"spec": {"parallelism": 0}}),
    ("Node", "node-0", "v1", {"spec": {"unschedulable": True}}),
    ("Pod", "p0", "v1", {"metadata": {"labels": {"x": "y"}}}),
)


def bundle(seed: int) -> list[Manifest]:
    """Return the documents of one cluster: at most 3 nodes and some 30 pods."""
    dice = Dice(seed)
    api, label, version = dice.choice(APIS)
    documents = [_node(number) for number in range(dice.choice((0, 1, 2, 3)))]
    documents += [_group(dice, api, name) for name in ("g", "h") if dice.chance(0.7)]
    documents += [_workload(dice, kind, label) for kind in WORKLOADS if dice.chance(0.4)]
    documents += [_pod(dice, f"p{number}", label) for number in range(dice.choice((0, 1, 3, 6)))]
    documents.append(_configuration(dice, version) if dice.chance(0.8) else SETTINGS)
    if dice.chance(0.6):
        documents.append(_history(dice, api, label))
    return documents


def _node(number: int) -> Manifest:
    status = {
        "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"},
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{number}"}, "status": status}


def _group(dice: Dice, api: str, name: str) -> Manifest:
    spec: Manifest = {}
    if dice.chance(0.7):
        spec["minMember"] = dice.choice(COUNTS)
    if dice.chance(0.4):
        spec["scheduleTimeoutSeconds"] = dice.choice((0, 1, 10, 100_000))
    if dice.chance(0.2):
        spec["minResources"] = {"cpu": dice.choice(("0", "1", "100"))}
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": api, "kind": "PodGroup", "metadata": meta, "spec": spec}


def _template(dice: Dice, label: str) -> Manifest:
    labels = {"app": "w"}
    if dice.chance(0.6):
        labels[label] = dice.choice(("g", "h", "absent"))
    life = {
        "podstep/run-seconds": (0.6, SECONDS),
        "podstep/start-seconds": (0.3, SECONDS),
        "podstep/outcome": (0.3, ("Succeeded", "Failed")),
    }
    annotations = {key: dice.choice(values) for key, (odds, values) in life.items() if dice.chance(odds)}
    requests = {"cpu": dice.choice(("0", "1", "3", "9"))}
    spec: Manifest = {"containers": [{"name": "c", "resources": {"requests": requests}}]}
    if dice.chance(0.2):
        spec["priority"] = dice.choice((-5, 5, 100))
    return {"metadata": {"labels": labels, "annotations": annotations}, "spec": spec}


def _pod(dice: Dice, name: str, label: str) -> Manifest:
    made = _template(dice, label)
    made["metadata"]["name"] = name
    if dice.chance(0.3):
        made["spec"]["restartPolicy"] = dice.choice(("Always", "OnFailure", "Never"))
    return {"apiVersion": "v1", "kind": "Pod", **made}


def _workload(dice: Dice, kind: str, label: str) -> Manifest:
    template = _template(dice, label)
    spec: Manifest = {"template": template}
    if kind == "Job":
        template["spec"]["restartPolicy"] = dice.choice(("OnFailure", "Never"))
        spec |= {key: dice.choice(COUNTS) for key in ("parallelism", "completions", "backoffLimit")}
    else:
        spec["selector"] = {"matchLabels": {"app": "w"}}  # the same for all: they adopt each other's pods
    if kind in ("ReplicaSet", "Deployment", "StatefulSet"):
        spec["replicas"] = dice.choice(COUNTS)
    if kind == "Deployment" and dice.chance(0.5):
        surge, unavailable = dice.choice(((0, 1), (1, 0), ("25%", "25%")))
        rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
        spec["strategy"] = {"type": "RollingUpdate", "rollingUpdate": rolling}
    version = "batch/v1" if kind == "Job" else "apps/v1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": kind.lower()}, "spec": spec}


def _configuration(dice: Dice, version: str) -> Manifest:
    enabled: Any = [{"name": "Coscheduling"}]
    plugins: Manifest = {"queueSort": {"enabled": enabled, "disabled": [{"name": "*"}]}}
    points = POINTS if version != "v1" else POINTS[:-1]
    plugins |= {point: {"enabled": enabled} for point in points if dice.chance(0.8)}
    profile: Manifest = {"plugins": plugins}
    if dice.chance(0.4):
        arguments = {"permitWaitingTimeSeconds": dice.choice((0, 1, 60))}
        profile["pluginConfig"] = [{"name": "Coscheduling", "args": arguments}]
    return {
        "apiVersion": f"kubescheduler.config.k8s.io/{version}",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }


def _history(dice: Dice, api: str, label: str) -> Manifest:
    operations = []
    for number in range(dice.choice((1, 2, 5))):
        when: Manifest = {"time": dice.choice((0, 1, 5.5, 100, 10_000_000))}
        if dice.chance(0.5):
            when = {"step": {"major": number + 1}}
        operations.append({"id": f"op-{number}", **when, **_operation(dice, api, label, number)})
    return {
        "apiVersion": SCENARIO,
        "kind": "Scenario",
        "metadata": {"name": "s"},
        "spec": {"operations": operations},
    }


def _operation(dice: Dice, api: str, label: str, number: int) -> Manifest:
    kind, name, version, patch = dice.choice(TARGETS)
    target = {"typeMeta": {"kind": kind, "apiVersion": version or api}, "objectMeta": {"name": name}}
    how = dice.choice(("create", "patch", "delete"))
    if how == "create":
        return {"createOperation": {"object": _pod(dice, f"late-{number}", label)}}
    if how == "delete":
        return {"deleteOperation": target}
    return {"patchOperation": {**target, "patch": json.dumps(patch), "patchType": "merge"}}
