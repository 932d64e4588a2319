"""The controller's phases, a sync at a time (section 7)."""

from __future__ import annotations

from datetime import timedelta

from tests.conformance.gang_oracle.reader import Manifest, Record, least, moment, namespace, phase

FINAL = {"Finished", "Failed"}
ENOUGH = 12


def controller(record: Record) -> Manifest:
    group = record.groups[record.input["podGroup"]]
    name = group["metadata"]["name"]
    pods = [p for p in record.all_pods if record.label(p) == name]
    status = dict(group.get("status") or {})
    steps = record.input.get("steps", 1)
    for _ in range(ENOUGH if steps == "until-stable" else steps):
        if not asleep(record, group, status):
            (classic if record.classic else current)(status, pods, least(group))
    before, now = ((one or {}).get("occupiedBy") or "" for one in (group.get("status"), status))
    return {"phase": status.get("phase") or "", **({"occupiedBy": now} if now != before else {})}


def asleep(record: Record, group: Manifest, status: Manifest) -> bool:
    """Say whether a group is left alone: at its end, or started two days after it was made."""
    if status.get("phase") in FINAL:
        return True
    if status.get("running"):
        return False
    if record.classic:
        suspect = (status.get("scheduled") or 0) == least(group)
    else:
        suspect = status.get("phase") in {"Scheduling", "Pending"}
    start, made = status.get("scheduleStartTime"), group["metadata"].get("creationTimestamp")
    return suspect and moment(start) - moment(made) > timedelta(hours=48)


def tally(status: Manifest, pods: list[Manifest]) -> tuple[int, int, int]:
    """Store the three counters and return them."""
    r, s, f = (sum(phase(p) == x for p in pods) for x in ("Running", "Succeeded", "Failed"))
    status.update(running=r, succeeded=s, failed=f)
    return r, s, f


def classic(status: Manifest, pods: list[Manifest], m: int) -> None:
    now = status.get("phase") or ""
    if now == "":
        status["phase"] = "Pending"
    elif now == "Pending":
        if len(pods) >= m:
            status["phase"] = "PreScheduling"
    else:
        r, s, f = tally(status, pods)
        if not pods:
            status["phase"] = "Pending"
            return
        if status["phase"] == "Scheduling" and (status.get("scheduled") or 0) >= m:
            status["phase"] = "Scheduled"
        if status["phase"] == "Scheduled" and r + s >= m:
            status["phase"] = "Running"
        if f and f + r + s >= m:
            status["phase"] = "Failed"
        if s >= m:
            status["phase"] = "Finished"


def current(status: Manifest, pods: list[Manifest], m: int) -> None:
    now = status.get("phase") or ""
    if now == "":
        status["phase"] = "Pending"
    elif now == "Pending":
        if len(pods) >= m:
            status["phase"] = "Scheduling"
            owners = pods[0]["metadata"].get("ownerReferences") if pods else None
            if owners:
                status["occupiedBy"] = ",".join(sorted(f"{namespace(pods[0])}/{o['name']}" for o in owners))
    else:
        r, s, f = tally(status, pods)
        if len(pods) < m:
            status["phase"] = "Pending"
            return
        status["phase"] = "Running" if r + s >= m else "Scheduling"
        if f and f + r + s >= m:
            status["phase"] = "Failed"
        if s >= m:
            status["phase"] = "Finished"
