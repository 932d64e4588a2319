"""The condition that a PodGroup gets after each cycle, and its form in the record."""

from __future__ import annotations

from typing import Any

from scheduler_core.schedulers.v1_37.change import Manifest, ObjectWrite
from scheduler_core.schedulers.v1_37.groups.outcome import GroupStatus
from scheduler_core.schedulers.v1_37.state import ClusterState

CONDITION = "PodGroupInitiallyScheduled"


def write_condition(cluster: ClusterState, key: str, status: GroupStatus) -> ObjectWrite | None:
    """Patch the group's condition; None if nothing changes. True is never taken back."""
    group = cluster.objects["PodGroup"][key]
    wanted = _wanted(status)
    conditions = list((group.get("status") or {}).get("conditions") or ())
    for row in conditions:
        if row.get("type") != CONDITION:
            continue
        if row.get("status") == "True" != wanted["status"]:
            return None
        if all(row.get(name) == value for name, value in wanted.items()):
            return None
    conditions = [row for row in conditions if row.get("type") != CONDITION]
    stored = {**(group.get("status") or {}), "conditions": [*conditions, wanted]}
    return cluster.replace({**group, "status": stored})


def _wanted(status: GroupStatus) -> dict[str, Any]:
    if status.success:
        outcome = ("True", "Scheduled", "")
    elif status.error:
        outcome = ("False", "SchedulerError", status.as_error)
    else:
        outcome = ("False", "Unschedulable", status.message)
    return {"type": CONDITION, **dict(zip(("status", "reason", "message"), outcome))}


def group_conditions(group: Manifest) -> dict[str, str]:
    """Return the conditions by type as ``STATUS REASON: MESSAGE``."""
    rows = (group.get("status") or {}).get("conditions") or ()
    return {row["type"]: f"{row.get('status')} {row.get('reason')}: {row.get('message')}" for row in rows}


def condition_text(group: Manifest) -> str:
    """Return the group's conditions as ``TYPE=STATUS REASON: MESSAGE``, joined by a comma."""
    return ", ".join(f"{kind}={text}" for kind, text in group_conditions(group).items())
