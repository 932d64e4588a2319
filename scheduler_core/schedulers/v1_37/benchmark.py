"""The workloads that v1.37 is timed on: equal pods of a ReplicaSet, empty nodes in three zones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.schedulers.v1_37.attempt import Scheduler
from scheduler_core.schedulers.v1_37.config import read_configuration
from scheduler_core.schedulers.v1_37.nominations import NominatedPods
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.state import ClusterState

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


def objects(shape: str, nodes: int, pods: int) -> Iterator[dict[str, Any]]:
    """Yield nodes, ReplicaSet, Service and pods in order of creation."""
    for number in range(nodes):
        yield _node(number)
    yield {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "bench", "namespace": "default", "uid": "rs-bench"},
        "spec": {"replicas": pods, "selector": {"matchLabels": LABELS}},
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
        "spec": {
            "containers": [
                {
                    "name": "bench",
                    "image": "pause:3.1",
                    "resources": {"requests": {"cpu": "100m", "memory": "500Mi"}},
                }
            ],
            **SHAPES[shape],
        },
    }


class Benchmark:
    """A cluster and its pods, ready to be scheduled one after the other, each assumed before the next."""

    def __init__(self, shape: str, nodes: int, pods: int, *, percentage: int = 100) -> None:
        self.cluster = ClusterState()
        for manifest in objects(shape, nodes, pods):
            self.cluster.create(manifest)
        configuration = read_configuration({"percentageOfNodesToScore": percentage})
        self.scheduler = Scheduler(self.cluster, configuration, NominatedPods())
        self.pods: list[CompiledPod] = [pod for pod in self.cluster.pods.values() if not pod.node]
        for pod in self.pods:  # as the queue does when it takes a pod in
            pod.compile()
        self.placement: dict[str, str] = {}
        """The node of each pod by name, empty if there was none."""

    def run(self, *, trace: bool = False) -> None:
        """Schedule all pods; with ``trace`` each attempt has all arrays of its record."""
        for pod in self.pods:
            node = self.scheduler.schedule(pod).node if trace else self.scheduler.decide(pod)
            if node is not None:
                self.cluster.assume(pod, node)
            self.placement[pod.name] = node or ""
