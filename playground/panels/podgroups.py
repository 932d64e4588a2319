"""PodGroups after a cycle: all of them in short, one of them in full, and the events around the cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.panels.happenings import timed_sentences
from playground.panels.outlook import outlook
from playground.panels.phases import final_of, phases_of, ways_of
from scheduler_core.kubernetes.plain import plain
from scheduler_core.record.cycle import Cycle, FinalState
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.run.v1_37.pod_groups import NativePodGroup
from scheduler_core.run.v1_37.record import release_record
from scheduler_core.schedulers.coscheduling.record import (
    Groups,
    GroupSummary,
    PodGroupRecord,
    record_of,
)

NO_TIME = (
    "The scheduler of v1.11 knows no PodGroups: it binds each pod by itself, and time stands still between "
    "its cycles. To schedule PodGroups use a KubeSchedulerConfiguration that enables Coscheduling."
)
NO_NATIVE = (
    "This scenario has no PodGroup. kube-scheduler {release} schedules those of scheduling.k8s.io itself, "
    "all members or none, where the feature gate GenericWorkload is on."
)
INSIDE = "PodGroups are recorded at the end of the cycle, which this moment precedes."
NO_GROUP = "This scenario has no PodGroup."
NO_PLUGIN = (
    "The plugin Coscheduling does not run here: the controller counts members and sets phases, and the "
    "scheduler binds each pod by itself."
)
SHOWN = {"members": 100, "denials": 50, "backOffs": 50}  # per group
CHECK_NODES = 30  # per resource check
PODS_NAMED = 20
PLACEMENTS_SHOWN = 40


def podgroups(cycle: Cycle) -> dict[str, Any]:
    """Return the protocol's ``podgroups`` part of a cycle."""
    found = record_of(cycle)
    if found.groups is None:
        return _native(cycle)
    around = _around(found.groups, cycle.happenings, timed_sentences(cycle.consequences, cycle.pod))
    return _part(found.groups, found.pod_group, around)


def resting(rest: FinalState) -> dict[str, Any]:
    """Return the same part for the end of a run; no group is in flight any more."""
    groups = record_of(rest).groups
    assert groups is not None
    return _part(groups, None, _around(groups, rest.happenings, []))


def _native(cycle: Cycle) -> dict[str, Any]:
    """Return the part of a release that schedules PodGroups of scheduling.k8s.io itself."""
    record = release_record(cycle)
    if record is None:
        return {"why": NO_TIME}
    if tuple(record.phases) != tuple(cycle.phases) or cycle.result == "undecided":
        return {"why": INSIDE}
    if not record.groups:
        return {"why": NO_NATIVE.format(release=record.release)}
    decided = record.group or {}
    return {
        "native": [_native_group(one) for one in record.groups],
        "count": record.group_count,
        "flying": record.entity if record.group is not None else "",
        "placements": _placements(decided),
    }


def _native_group(group: NativePodGroup) -> dict[str, Any]:
    return {
        "key": group.key,
        "minCount": group.min_count,
        "topology": group.topology,
        "members": [[pod, node or None] for pod, node in group.members],
        "memberCount": group.count,
        "assigned": group.assigned,
        "conditions": [[kind, text.removesuffix(": ")] for kind, text in group.conditions.items()],
    }


def _placements(decided: Mapping[str, Any]) -> list[list[Any]]:
    """Return the placements that were tried for the group in flight: name, nodes, and total or None."""
    totals = {row["name"]: row["total"] for row in decided.get("placementScores") or ()}
    tried = [one for one in decided.get("placements") or () if one["name"]]
    return [[one["name"], len(one["nodes"]), totals.get(one["name"])] for one in tried[:PLACEMENTS_SHOWN]]


def _part(groups: Groups, record: PodGroupRecord | None, around: dict[str, Any]) -> dict[str, Any]:
    if not groups.count and record is None:
        return {"why": NO_GROUP, **around}
    return {
        **diagram(groups),
        "note": "" if groups.coscheduling else NO_PLUGIN,
        "groups": [_summary(summary) for summary in groups.listed],
        "count": groups.count,
        "group": record and group(record, groups.table, scheduled=groups.coscheduling, attempted=True),
        **around,
    }


def diagram(groups: Groups) -> dict[str, Any]:
    """Return the phases and their transitions, by the edition in force."""
    return {
        "edition": groups.table,
        "coscheduling": groups.coscheduling,
        "phases": list(phases_of(groups.table)),
        "final": list(final_of(groups.table)),
        "ways": [list(way) for way in ways_of(groups.table)],
    }


def _around(groups: Groups, before: Sequence[TimelineEvent], after: list[list[Any]]) -> dict[str, Any]:
    return {"time": groups.time, "happenings": timed_sentences(before, ""), "consequences": after}


def _summary(summary: GroupSummary) -> list[Any]:
    return [
        summary.key,
        summary.phase,
        summary.min_member,
        summary.members,
        summary.assigned,
        summary.waiting,
        summary.denied_until,
        summary.backed_off_until,
    ]


def group(record: PodGroupRecord, table: str, *, scheduled: bool, attempted: bool) -> dict[str, Any]:
    """Return the protocol's ``Group``: the trace's ``podGroup``, bounded, and its outlook.

    ``table`` is the edition, ``scheduled`` whether Coscheduling runs, ``attempted`` whether the cycle's pod
    is a member of the group.
    """
    shown = plain(record.line())
    for member, known in zip(shown["members"], record.members, strict=True):
        if member["state"] == "bound" and known.phase == "Running":
            member["state"] = "running"
    counts = {name: len(shown[name]) for name in ("denials", "backOffs")}
    shown |= {name: shown[name][:most] for name, most in SHOWN.items()}
    for point, names in (("permit", ("allowed", "activated")), ("postFilter", ("rejected",))):
        if shown[point] is not None:
            shown[point] = _named(shown[point], *names)
    check = shown["resourceCheck"]
    if check is not None:
        shown["resourceCheck"] = {**check, "nodes": check["nodes"][:CHECK_NODES]}
    return {
        **shown,
        "time": record.time,
        "denialCount": counts["denials"],
        "backOffCount": counts["backOffs"],
        "attempted": attempted,
        "outlook": outlook(record, table, scheduled=scheduled),
    }


def _named(part: dict[str, Any], *names: str) -> dict[str, Any]:
    """Truncate each list of pods, and add its full count."""
    counts = {f"{name}Count": len(part[name]) for name in names}
    return {**part, **{name: part[name][:PODS_NAMED] for name in names}, **counts}
