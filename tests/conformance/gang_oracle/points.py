"""What the plugin decides at each extension point, one question at a time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction

from tests.conformance.gang_oracle.reader import (
    DEFAULTS,
    Manifest,
    Record,
    key,
    least,
    left,
    moment,
    node_name,
    phase,
    priority,
    quantity,
)

EPOCH = datetime(2021, 1, 1, tzinfo=UTC)


def less(record: Record) -> Manifest:
    """Section 2: priority, then the group's time, then the pod's own name (section 8: time of failure)."""

    def place(side: Manifest) -> tuple[int, datetime, str]:
        pod = side["pod"]
        at = EPOCH + timedelta(seconds=side.get("queuedAt") or 0)
        group, failed = record.group(pod), record.input.get("failedAt") or {}
        if not record.classic and record.group_key(pod) in failed:
            at = EPOCH + timedelta(seconds=failed[record.group_key(pod)])
        elif group:
            at = moment(group["metadata"].get("creationTimestamp"))
        return -priority(pod), at, key(pod)

    return {"less": place(record.input["p1"]) < place(record.input["p2"])}


def gap(record: Record, need: dict[str, Fraction], group: str) -> dict[str, Fraction]:
    """Section 3.5: walk over the nodes and return what is still missing; no nodes, no answer but no."""
    need = dict(need)
    for name, node in record.nodes.items():
        there = [p for p in record.pods if node_name(p) == name and record.group_key(p) != group]
        free = left(node, there)
        for resource in list(need):
            need[resource] -= free.get(resource, Fraction(0))
            if need[resource] <= 0:
                del need[resource]
        if not need:
            break
    return need


def enough(record: Record, need: dict[str, Fraction], group: str) -> bool:
    return bool(record.nodes) and not gap(record, need, group)


def cluster_resource(record: Record) -> Manifest:
    need = {name: quantity(amount) for name, amount in record.input["request"].items()}
    return {"enough": enough(record, need, record.input["group"])}


def refusal(record: Record, pod: Manifest) -> str | None:
    """Return why PreFilter fails a pod, or nothing."""
    group, name = record.group(pod), record.group_key(pod)
    if group is None:
        return None
    if record.classic and name in (record.input.get("denied") or []):
        return f"pod with pgName: {name} last failed in 3s, deny"
    if not record.classic and name in (record.input.get("backedOff") or []):
        return f"podGroup {name} failed recently"
    members, m = record.members(name), least(group)
    if len(members) < m:
        return (
            f"pre-filter pod {pod['metadata']['name']} cannot find enough sibling pods, "
            f"current pods number: {len(members)}, minMember of group: {m}"
        )
    gated = sum(1 for p in members if p["spec"].get("schedulingGates"))
    if not record.classic and len(members) - gated < m:
        name = pod["metadata"]["name"]
        return f"pre-filter pod {name} cannot proceed due to gated pods in the same PodGroup"
    wanted = (group.get("spec") or {}).get("minResources")
    if wanted is None:
        return None
    need = {resource: quantity(amount) for resource, amount in wanted.items()}
    need["pods"] = Fraction(m)
    return None if enough(record, need, name) else "resource gap"


def pre_filter(record: Record) -> Manifest:
    why = refusal(record, record.input["pod"])
    return {"success": True} if why is None else {"success": False, "message": why}


def permit(record: Record) -> Manifest:
    pod = record.input["pod"]
    if not record.group_key(pod):
        return {"status": "Success"}
    group = record.group(pod)
    if group is None:
        return {"status": "Unschedulable", "detail": "PodGroup not found"}
    assigned = record.assigned(record.group_key(pod))
    count = len(assigned) + 1 if record.classic else len(assigned | {key(pod)})
    return {"status": "Success" if count >= least(group) else "Wait"}


def post_filter(record: Record) -> Manifest:
    pod = record.input["pod"]
    group, name = record.group(pod), record.group_key(pod)
    if group is None:
        return {"message": "can not find pod group", "rejectsGroup": False}
    assigned, m = len(record.assigned(name)), least(group)
    percent = 10 if record.classic else record.args["podGroupRejectPercentage"]
    if assigned >= m or 100 * (m - assigned) <= percent * m:
        return {"message": "", "rejectsGroup": False}
    return {
        "message": f"PodGroup {name} gets rejected due to Pod {pod['metadata']['name']} "
        "is unschedulable even after PostFilter",
        "rejectsGroup": True,
    }


def post_bind(record: Record) -> Manifest:
    """Section 6: the stored object changes with its phase only."""
    group = record.group(record.input["pod"])
    assert group is not None
    stored = group.get("status") or {}
    scheduled = int(stored.get("scheduled") or 0) + 1
    now = "Scheduled" if scheduled >= least(group) else "Scheduling"
    if now == phase(group):
        return {"phase": now, "scheduled": scheduled - 1}
    return {"phase": now, "scheduled": scheduled}


def arguments(record: Record) -> Manifest:
    """Section 1: unknown names and other types cannot be read; only current checks the numbers."""
    args, known = record.input.get("args"), DEFAULTS[record.edition]
    for name, value in (args or {}).items():
        if name in {"apiVersion", "kind"}:
            continue
        if name not in known or isinstance(value, bool) or not isinstance(value, int | None):
            return {"error": True}
        if value is None or record.classic:
            continue
        if value < 0 or (name == "podGroupRejectPercentage" and value > 100):
            return {"error": True}
    return {"error": False}
