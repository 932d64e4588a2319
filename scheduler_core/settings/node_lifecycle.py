"""The flags of kube-controller-manager's node controller, as SimulationSettings give them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.readers import At, Field, Outline, integer, outlined, record, show


class NodeLifecycleSettings(Struct, frozen=True):
    """When a node that says nothing is lost, and how fast pods of lost nodes are evicted by zone.

    ``grace_seconds`` are seconds, the two rates nodes a second, ``unhealthy_threshold`` is the share of a
    zone's nodes, and ``large_cluster`` the nodes of one; the defaults are those of Kubernetes.
    """

    grace_seconds: float = 50.0
    eviction_rate: float = 0.1
    secondary_eviction_rate: float = 0.01
    large_cluster: int = 50
    unhealthy_threshold: float = 0.55


def _number(least: float, most: float) -> Callable[[Any, At], float | None]:
    def read(value: Any, at: At) -> float | None:
        if type(value) not in (int, float) or not least <= value <= most:
            at.error(f"must be a number from {least:g} to {most:g}, not {show(value)}")
            return None
        return float(value)

    outlined(read, Outline("number"))
    return read


read_node_lifecycle = record(
    NodeLifecycleSettings,
    {
        "nodeMonitorGraceSeconds": Field("grace_seconds", _number(1, 86_400)),
        "nodeEvictionRate": Field("eviction_rate", _number(0, 1_000)),
        "secondaryNodeEvictionRate": Field("secondary_eviction_rate", _number(0, 1_000)),
        "largeClusterSizeThreshold": Field("large_cluster", integer(0)),
        "unhealthyZoneThreshold": Field("unhealthy_threshold", _number(0, 1)),
    },
)
