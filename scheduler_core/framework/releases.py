"""In what the framework differs between releases of Kubernetes, as one table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Release:
    """A column: ``unschedulable_stay`` is after how many seconds the flush moves an unschedulable pod."""

    name: str
    unschedulable_stay: float
    gates: bool  # scheduling gates hold pods
    pod_add_wakes: bool  # a new pending pod is an event that can move others
    forget_wakes: bool  # an assumed pod that is given up counts as a deleted one
    permit_refuses: bool  # who rejected a pod at Permit counts as who refused it
    pre_filter_once: bool  # what PreFilter says is told once, not counted by nodes
    reserve_rejects: bool  # a pod can be unschedulable by Reserve; else all that it fails with is an error
    errors_back_off: bool  # a pod that failed by an error is tried again after its backoff, without an event
    keeps_nomination: bool  # a pod that got a node and lost it again is nominated as before
    missing_victim_fails: bool  # a victim that is gone from the API already ends preemption by an error


V1_22 = Release(
    "1.22",
    unschedulable_stay=60.0,
    gates=False,
    pod_add_wakes=False,
    forget_wakes=False,
    permit_refuses=False,
    pre_filter_once=False,
    reserve_rejects=False,
    errors_back_off=False,
    keeps_nomination=True,
    missing_victim_fails=True,
)
V1_35 = Release(
    "1.35",
    unschedulable_stay=300.0,
    gates=True,
    pod_add_wakes=True,
    forget_wakes=True,
    permit_refuses=True,
    pre_filter_once=True,
    reserve_rejects=True,
    errors_back_off=True,
    keeps_nomination=False,
    missing_victim_fails=False,
)
RELEASES: dict[str, Release] = {release.name: release for release in (V1_22, V1_35)}
