"""What the node controller sets on a node: taints and conditions, and labels by their old names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.cluster.v1_37.defaults import NOT_READY, UNREACHABLE
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    condition_in,
    labels_of,
    spec_of,
    status_of,
    taints_of,
    with_condition,
    with_spec,
)

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
CONDITION_TAINTS = {"False": NOT_READY, "Unknown": UNREACHABLE}
_PRESSURES = {
    f"{name}Pressure": f"node.kubernetes.io/{name.lower()}-pressure" for name in ("Memory", "Disk", "PID")
}
_TAINTS = {
    "Ready": CONDITION_TAINTS,
    "NetworkUnavailable": {"True": "node.kubernetes.io/network-unavailable"},
    **{condition: {"True": key} for condition, key in _PRESSURES.items()},
}
"""The key of a node's NoSchedule taint by the type and status of its condition."""
_OWN = frozenset({UNSCHEDULABLE, *(key for keys in _TAINTS.values() for key in keys.values())})
_POSTED = ("Ready", *_PRESSURES)
"""The conditions that kubelets post; NetworkUnavailable is the network's."""
_SAME_LABELS = {f"kubernetes.io/{name}": f"beta.kubernetes.io/{name}" for name in ("os", "arch")}
"""Labels, and those that are kept equal to them (labelReconcileInfo)."""


def taint(key: str, effect: str, at: str = "") -> dict[str, Any]:
    """Return a taint; ``at`` is when it was added."""
    made = {"key": key, "effect": effect}
    return {**made, "timeAdded": at} if at else made


def no_schedule_taints(node: Manifest) -> tuple[list[str], list[str]]:
    """Return the keys of the NoSchedule taints that a node lacks, and of those that it has in vain."""
    conditions = status_of(node).get("conditions") or ()
    rows = (_TAINTS.get(row["type"], {}).get(row["status"]) for row in conditions)
    wanted = [found for found in rows if found]
    if spec_of(node).get("unschedulable"):
        wanted.append(UNSCHEDULABLE)
    has = [one["key"] for one in taints_of(node) if one["effect"] == "NoSchedule" and one["key"] in _OWN]
    return [key for key in wanted if key not in has], [key for key in has if key not in wanted]


def old_labels(node: Manifest) -> dict[str, str]:
    """Return the old names of labels with their values, where a node lacks them or has others."""
    labels = labels_of(node)
    return {
        old: labels[now]
        for now, old in _SAME_LABELS.items()
        if now in labels and labels[now] != labels.get(old)
    }


def unknown_conditions(node: Manifest, at: str) -> list[dict[str, Any]]:
    """Return a node's conditions with those that its kubelet posts Unknown, also those never posted."""
    rows: list[dict[str, Any]] = list(status_of(node).get("conditions") or ())
    for kind in _POSTED:
        row = condition_in(rows, kind)
        reason = "NodeStatusNeverUpdated" if row is None else "NodeStatusUnknown"
        if row is None or row["status"] != "Unknown":
            unknown = {"status": "Unknown", "reason": reason, "lastTransitionTime": at}
            rows = with_condition(rows, {**(row or {"type": kind}), **unknown})
    return rows


def has_no_execute(node: Manifest, key: str) -> bool:
    """Return whether a node has a NoExecute taint of this key."""
    return any(one["key"] == key and one["effect"] == "NoExecute" for one in taints_of(node))


def without_taints(node: Manifest, keys: Sequence[str], effect: str) -> Manifest:
    """Return a node without its taints of these keys and this effect."""
    kept = [one for one in taints_of(node) if not (one["key"] in keys and one["effect"] == effect)]
    return with_spec(node, taints=kept or None)
