"""Small clusters in a line each, for contracts to be checked in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Manifest = Mapping[str, Any]


def bundle(*parts: Manifest | list[Manifest]) -> str:
    """Return manifests as one text."""
    listed = [one for part in parts for one in (part if isinstance(part, list) else [part])]
    return "".join(f"---\n{json.dumps(one)}\n" for one in listed)


def nodes(zones: str, cpu: str = "4", **labels: str) -> list[Manifest]:
    """Return a node for each letter, which is its zone."""
    return [_node(f"n{number}", zone, cpu, labels) for number, zone in enumerate(zones, 1)]


def _node(name: str, zone: str, cpu: str, labels: Mapping[str, str]) -> Manifest:
    own = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone, **labels}
    status = {
        "allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": own}, "status": status}


def template(app: str, cpu: str, memory: str = "128Mi", **spec: Any) -> Manifest:
    """Return a pod template."""
    requests = {"cpu": cpu, "memory": memory}
    containers = [{"name": "c", "image": "registry.example/app:1", "resources": {"requests": requests}}]
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": containers, **spec}}


def workload(
    kind: str,
    app: str,
    replicas: int,
    cpu: str = "100m",
    *,
    memory: str = "128Mi",
    more: Manifest | None = None,
    **spec: Any,
) -> Manifest:
    """Return a workload; ``spec`` is of its pods, ``more`` of itself."""
    own = {
        "selector": {"matchLabels": {"app": app}},
        "template": template(app, cpu, memory, **spec),
        **(more or {}),
    }
    own |= {} if kind == "DaemonSet" else {"replicas": replicas}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": app}, "spec": own}


def pod_template(app: str, cpu: str, **spec: Any) -> Manifest:
    """Return a PodTemplate."""
    return {
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": {"name": app},
        "template": template(app, cpu, **spec),
    }


def priority(name: str, value: int) -> Manifest:
    """Return a PriorityClass."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


def budget(app: str, least: int) -> Manifest:
    """Return a PodDisruptionBudget."""
    spec = {"minAvailable": least, "selector": {"matchLabels": {"app": app}}}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": app}, "spec": spec}


def spread(app: str, key: str = "topology.kubernetes.io/zone", **more: Any) -> Manifest:
    """Return the pod spec of a hard spread constraint."""
    constraint = {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
        **more,
    }
    return {"topologySpreadConstraints": [constraint]}


def apart(app: str) -> Manifest:
    """Return the pod spec of a required anti-affinity between nodes."""
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def settings(**given: Any) -> Manifest:
    """Return SimulationSettings."""
    return {"apiVersion": "podstep/v1", "kind": "SimulationSettings", **given}


def gang(name: str, members: int, cpu: str, policy: Manifest) -> list[Manifest]:
    """Return a PodGroup and its pods."""
    group = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": policy},
    }
    spec = {**template(name, cpu)["spec"], "schedulingGroup": {"podGroupName": name}}
    pods: list[Manifest] = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"{name}-{number}", "labels": {"app": name}},
            "spec": spec,
        }
        for number in range(members)
    ]
    return [group, *pods]


def claimed(app: str, replicas: int, zone: str) -> list[Manifest]:
    """Return a StatefulSet whose claims have volumes in a zone."""
    claims = [_volume(f"{app}-{number}", f"data-{app}-{number}", zone) for number in range(replicas)]
    wanted = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "disk",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    more = {"volumeClaimTemplates": [wanted], "serviceName": app}
    return [_DISK, *claims, workload("StatefulSet", app, replicas, more=more)]


_DISK: Manifest = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "disk"},
    "provisioner": "kubernetes.io/no-provisioner",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def _volume(name: str, claim: str, zone: str) -> Manifest:
    term = {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "disk",
            "claimRef": {"namespace": "default", "name": claim, "kind": "PersistentVolumeClaim"},
            "csi": {"driver": "disk.example", "volumeHandle": name},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        },
    }


def queued(kind: str, name: str, queue: str, pods: int = 1) -> Manifest:
    """Return a Job, or a PodTemplate, whose pods of one core wait for quota in a LocalQueue."""
    labels = {"kueue.x-k8s.io/queue-name": queue}
    pod = template(name, "1", **({"restartPolicy": "Never"} if kind == "Job" else {}))
    if kind == "PodTemplate":
        own: Manifest = {"apiVersion": "v1", "template": {**pod, "metadata": {"labels": labels}}}
    else:
        own = {"apiVersion": "batch/v1", "spec": {"parallelism": pods, "completions": pods, "template": pod}}
    return {"kind": kind, "metadata": {"name": name, "labels": labels}, **own}


def joining(zone: str, second: float) -> Manifest:
    """Return a Scenario in which a node joins."""
    operation = {"time": second, "createOperation": {"object": _node("late", zone, "4", {})}}
    version = "simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1"
    return {
        "apiVersion": version,
        "kind": "Scenario",
        "metadata": {"name": "life"},
        "spec": {"operations": [operation]},
    }


UNEVEN = [*nodes("a"), _node("n2", "b", "8", {})]
"""Two nodes, one with twice the cores."""
EVEN: Manifest = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerPolicy",
    "profiles": [
        {
            "name": "even",
            "pluginConfig": [
                {"name": "DefaultEvictor", "args": {}},
                {
                    "name": "LowNodeUtilization",
                    "args": {"thresholds": {"cpu": 30}, "targetThresholds": {"cpu": 50}},
                },
            ],
            "plugins": {"balance": {"enabled": ["LowNodeUtilization"]}},
        }
    ],
}
"""The policy of a descheduler that wants even nodes."""
PACKED: Manifest = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "plugins": {
                "score": {
                    "disabled": [{"name": "NodeResourcesBalancedAllocation"}, {"name": "PodTopologySpread"}]
                }
            },
            "pluginConfig": [
                {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}}
            ],
        }
    ],
}
"""The configuration of a scheduler that wants full ones."""
