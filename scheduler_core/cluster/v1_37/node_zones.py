"""Zones of the node controller, and their states by how many of their nodes are ready."""

from __future__ import annotations

from scheduler_core.cluster.v1_37.objects import Manifest, labels_of

INITIAL, NORMAL, PARTIAL, FULL = "Initial", "Normal", "PartialDisruption", "FullDisruption"


def zone_of(node: Manifest) -> str:
    """Return the node's region and zone, by their old labels first (GetZoneKey)."""
    labels = labels_of(node)
    parts = [
        labels.get(
            f"failure-domain.beta.kubernetes.io/{name}", labels.get(f"topology.kubernetes.io/{name}", "")
        )
        for name in ("region", "zone")
    ]
    return ":\0:".join(parts) if any(parts) else ""


def counted_zone(node: Manifest) -> str | None:
    """Return the zone whose state a node counts for, ``None`` for a node that is excluded."""
    return None if "node.kubernetes.io/exclude-disruption" in labels_of(node) else zone_of(node)


def zone_state(well: int, lost: int, threshold: float) -> str:
    """Return the state of a zone with so many ready and lost nodes (ComputeZoneState)."""
    if not well:
        return FULL
    if lost > 2 and lost / (well + lost) >= threshold:
        return PARTIAL
    return NORMAL
