"""The generated examples: seeded, and the same on every machine."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from scheduler_core.formats.yaml_writer import write_yaml

_ZONE = "failure-domain.beta.kubernetes.io/zone"
_REGION = "failure-domain.beta.kubernetes.io/region"


class NodePool(Struct, frozen=True):
    """A node pool: ``share`` of all nodes, each with these resources; ``taint`` excludes other pods."""

    name: str
    share: int
    cpu: int
    memory: int  # GiB
    taint: str | None = None
    extended: tuple[str, int] | None = None


POOLS = (
    NodePool("general", 12, 8, 32),
    NodePool("compute", 4, 32, 64),
    NodePool("memory", 3, 8, 128),
    NodePool("gpu", 1, 16, 64, taint="nvidia.com/gpu", extended=("nvidia.com/gpu", 4)),
)
_SIZES = (("100m", "128Mi"), ("250m", "256Mi"), ("500m", "1Gi"), ("1", "2Gi"), ("2", "4Gi"))
_TEAMS = ("shop", "search", "billing", "data", "platform")


def _node(pool: NodePool, number: int, zone: str, dice: random.Random) -> dict[str, Any]:
    name = f"{pool.name}-{number:03d}"
    labels = {
        "kubernetes.io/hostname": name,
        "pool": pool.name,
        "disk": dice.choice(("ssd", "ssd", "hdd")),
        _REGION: "region-1",
        _ZONE: zone,
    }
    amounts = {"cpu": str(pool.cpu), "memory": f"{pool.memory}Gi", "pods": "110"}
    if pool.extended:
        amounts[pool.extended[0]] = str(pool.extended[1])
    status = {"allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
    node: dict[str, Any] = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
    if pool.taint:
        node["spec"] = {"taints": [{"key": pool.taint, "value": "present", "effect": "NoSchedule"}]}
    elif dice.random() < 0.02:
        node["spec"] = {"unschedulable": True}
    node["status"] = status
    return node


def _deployment(number: int, replicas: int, dice: random.Random) -> dict[str, Any]:
    name = f"{dice.choice(_TEAMS)}-{number:02d}"
    labels = {"app": name}
    cpu, memory = dice.choice(_SIZES)
    container: dict[str, Any] = {"name": "main", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    spec: dict[str, Any] = {"containers": [container]}
    kind = number % 8
    selector = {"matchLabels": labels}
    if kind == 1:
        spec["nodeSelector"] = {"disk": "ssd"}
    elif kind == 2:
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": selector}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    elif kind == 3:
        term = {"topologyKey": _ZONE, "labelSelector": selector}
        weighted = [{"weight": 100, "podAffinityTerm": term}]
        spec["affinity"] = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}
    elif kind == 4:
        wanted = {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["memory", "compute"]}]}
        preferred = [{"weight": 20, "preference": wanted}]
        spec["affinity"] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    elif kind == 5:
        container["resources"] = {"limits": {"cpu": "2", "memory": "8Gi", "nvidia.com/gpu": "1"}}
        spec["tolerations"] = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    template = {"metadata": {"labels": labels}, "spec": spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": {"team": name.partition("-")[0]}},
        "spec": {"replicas": replicas, "selector": selector, "template": template},
    }


def _service(deployment: dict[str, Any]) -> dict[str, Any]:
    selector = deployment["spec"]["selector"]["matchLabels"]
    name = deployment["metadata"]["name"]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": selector, "ports": [{"port": 80}]},
    }


def cluster(
    nodes: int, deployments: int, replicas: int, *, zones: int = 3, seed: int = 1
) -> Iterator[dict[str, Any]]:
    """Yield the manifests of a cluster: nodes of all pools over the zones, Services, Deployments.

    Each Deployment has between half of ``replicas`` and one and a half times as many.
    """
    dice = random.Random(seed)  # noqa: S311 - the same cluster on every machine is the point
    places = [pool for pool in POOLS for _ in range(pool.share)]
    numbers = dict.fromkeys((pool.name for pool in POOLS), 0)
    for index in range(nodes):
        pool = places[index * 7 % len(places)]
        numbers[pool.name] += 1
        yield _node(pool, numbers[pool.name], f"zone-{'abcdefghij'[index % zones]}", dice)
    for number in range(deployments):
        count = max(1, replicas // 2 + dice.randrange(replicas + 1))
        deployment = _deployment(number, count, dice)
        if number % 2:
            yield _service(deployment)
        yield deployment


def large_cluster() -> str:
    """Return the example of 500 nodes as YAML."""
    head = "# A generated cluster of 500 nodes in four pools and three zones, and 40 Deployments.\n"
    return head + write_yaml(cluster(500, 40, 20))
