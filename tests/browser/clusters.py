"""Clusters for the browser tests, as the text that a visitor pastes."""

from __future__ import annotations

from typing import Any

from tests.e2e import bundles

#: name, replicas for a dozen nodes, cpu, memory
WORKLOADS = (
    ("web", 14, "900m", "1536Mi"),
    ("api", 16, "700m", "2Gi"),
    ("report", 18, "500m", "512Mi"),
    ("search", 6, "1500m", "4Gi"),
)


def _node(at: int) -> dict[str, Any]:
    zone = "abc"[at % 3]
    large = at % 5 == 0
    labels = {"failure-domain.beta.kubernetes.io/zone": f"eu-1{zone}"}
    cpu, memory = ("8", "32Gi") if large else ("4", "16Gi")
    node = bundles.node(f"node-{zone}{at // 3 + 1}", cpu, memory, **labels)
    if at % 7 == 6:
        node["spec"] = {"taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]}
    return node


def zoned(nodes: int, load: float = 1.0) -> str:
    """Return a cluster over three zones with a tainted pool; ``load`` 1 nearly fills its cpu."""
    share = nodes / 12 * load
    deployments = [
        bundles.deployment(name, max(1, round(replicas * share)), cpu, memory)
        for name, replicas, cpu, memory in WORKLOADS
    ]
    return bundles.bundle(*(_node(at) for at in range(nodes)), *deployments)
