"""The workloads that v1.37 is timed on: equal pods of a ReplicaSet, empty nodes in three zones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
LABELS = {"app": "bench"}

SHAPES: Mapping[str, Mapping[str, Any]] = {
    "plain": {},
    "node-affinity": {
        "affinity": {
            "nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 10,
                        "preference": {
                            "matchExpressions": [{"key": "disktype", "operator": "In", "values": ["ssd"]}]
                        },
                    }
                ]
            }
        }
    },
    "anti-affinity": {
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": LABELS}}
                ]
            }
        }
    },
    "spread": {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": ZONE,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": LABELS},
            }
        ]
    },
}
"""What each shape adds to the pods' specification."""


def documents(shape: str, nodes: int, pods: int, percentage: int) -> Iterator[dict[str, Any]]:
    """Yield the configuration, then nodes, ReplicaSet, Service and pods in order of creation."""
    yield {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "percentageOfNodesToScore": percentage,
    }
    for number in range(nodes):
        yield _node(number)
    yield {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "bench", "namespace": "default", "uid": "rs-bench"},
        "spec": {
            "replicas": pods,
            "selector": {"matchLabels": LABELS},
            "template": {"metadata": {"labels": LABELS}, "spec": _spec(shape)},
        },
    }
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "bench", "namespace": "default"},
        "spec": {"selector": LABELS},
    }
    for number in range(pods):
        yield _pod(shape, number)


def _node(number: int) -> dict[str, Any]:
    name = f"node-{number:05}"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                HOSTNAME: name,
                ZONE: f"zone-{number % 3}",
                "topology.kubernetes.io/region": "region-1",
                "disktype": "hdd" if number % 2 else "ssd",
            },
        },
        "status": {"allocatable": {"cpu": "4", "memory": "32Gi", "pods": "110"}},
    }


def _pod(shape: str, number: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"pod-{number:05}",
            "namespace": "default",
            "labels": LABELS,
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "name": "bench",
                    "uid": "rs-bench",
                    "controller": True,
                }
            ],
        },
        "spec": _spec(shape),
    }


def _spec(shape: str) -> dict[str, Any]:
    requests = {"cpu": "100m", "memory": "500Mi"}
    container = {"name": "bench", "image": "pause:3.1", "resources": {"requests": requests}}
    return {"containers": [container], **SHAPES[shape]}
