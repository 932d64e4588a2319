"""The workloads that speed is measured on, as objects for v1.11 and as manifests for v1.37."""

from __future__ import annotations

import json
from collections.abc import Mapping

from scheduler_core.kubernetes.model import (
    Affinity,
    Container,
    KubernetesObject,
    LabelSelector,
    Node,
    NodeCondition,
    NodeSelectorTerm,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodAffinityTerm,
    PreferredNodeTerm,
    Requirement,
    Service,
    WeightedPodAffinityTerm,
    Workload,
)
from scheduler_core.scenario.load import load
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_37.benchmark import documents
from scheduler_core.settings.release import CACHING

HOSTNAME = "kubernetes.io/hostname"
ZONE = "failure-domain.beta.kubernetes.io/zone"
REGION = "failure-domain.beta.kubernetes.io/region"
GIB = 1024**3
MIB = 1024**2

LABELS = {"app": "bench"}
SELECTOR = LabelSelector(LABELS)
CONDITIONS = (
    *(
        NodeCondition(kind, "False")
        for kind in ("OutOfDisk", "MemoryPressure", "DiskPressure", "PIDPressure")
    ),
    NodeCondition("Ready", "True"),
)

AFFINITIES: Mapping[str, Affinity | None] = {
    "plain": None,
    "node-affinity": Affinity(
        node_required=(NodeSelectorTerm((Requirement(ZONE, "In", ("zone-0", "zone-1")),)),),
        node_preferred=(PreferredNodeTerm(10, NodeSelectorTerm((Requirement("disktype", "In", ("ssd",)),))),),
    ),
    "anti-affinity": Affinity(
        has_pod_anti_affinity=True, anti_required=(PodAffinityTerm(SELECTOR, HOSTNAME),)
    ),
    "pod-affinity": Affinity(
        has_pod_affinity=True,
        pod_preferred=(WeightedPodAffinityTerm(100, PodAffinityTerm(SELECTOR, ZONE)),),
    ),
}
SHAPES = tuple(AFFINITIES)


def workload(shape: str, nodes: int, pods: int) -> Scenario:
    """Return empty nodes and pending pods of one ReplicaSet, which a Service selects too."""
    owner = OwnerReference("ReplicaSet", "bench", "rs-bench", controller=True)
    container = Container("bench", "pause:3.1", {"cpu": 100, "memory": 500 * MIB})
    objects: list[KubernetesObject] = [bench_node(number) for number in range(nodes)]
    objects.append(Workload("ReplicaSet", ObjectMeta("bench", "default", "rs-bench"), SELECTOR, pods))
    objects.append(Service(ObjectMeta("bench", "default"), LABELS))
    objects.extend(
        Pod(
            ObjectMeta(f"pod-{number:05}", "default", f"pod-{number}", LABELS, owner_references=(owner,)),
            affinity=AFFINITIES[shape],
            containers=(container,),
        )
        for number in range(pods)
    )
    return Scenario(f"bench {shape}", (), tuple(objects), presumed=CACHING)


def manifest_workload(shape: str, nodes: int, pods: int, percentage: int = 100) -> Scenario:
    """Return what :func:`workload` does, as a bundle of manifests for kube-scheduler v1.37.

    ``percentage`` is percentageOfNodesToScore; 0 is adaptive.
    """
    items = list(documents(shape, nodes, pods, percentage))
    return load([("bench.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))])


def bench_node(number: int) -> Node:
    """Return an empty node in one of three zones."""
    name = f"node-{number:05}"
    labels = {
        HOSTNAME: name,
        ZONE: f"zone-{number % 3}",
        REGION: "region-1",
        "disktype": "hdd" if number % 2 else "ssd",
    }
    allocatable = {"cpu": 4000, "memory": 32 * GIB, "pods": 110}
    return Node(ObjectMeta(name, uid=name, labels=labels), allocatable, allocatable, conditions=CONDITIONS)
