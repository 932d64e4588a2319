"""The differences of the framework between releases of Kubernetes, as one table."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace


class FrameworkRelease(Struct, frozen=True):
    """A column: the flush moves a pod that is unschedulable for more than ``unschedulable_stay`` seconds."""

    name: str
    unschedulable_stay: float
    gates: bool  # scheduling gates hold pods
    pod_add_wakes: bool  # a new pending pod is an event that can move others
    forget_wakes: bool  # a forgotten assumed pod counts as a deleted one
    permit_refuses: bool  # the plugin that rejected a pod at Permit counts as the rejecting plugin
    pre_filter_once: bool  # the message of PreFilter is reported once, not counted per node
    reserve_rejects: bool  # Reserve can make a pod unschedulable; else every failure of it is an error
    errors_back_off: bool  # a pod that failed with an error is retried after its backoff, without an event
    keeps_nomination: bool  # a pod that was assumed and then forgotten keeps its nominated node
    missing_victim_fails: bool  # a victim already deleted from the API ends preemption with an error
    prefers_nominated: bool  # a feasible nominated node is taken without scoring


V1_22 = FrameworkRelease(
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
    prefers_nominated=True,
)
UNDER_POLICY = replace(V1_22, name="1.11", prefers_nominated=False)
"""Of what a release differs in here; the queue of v1.11 is another one."""
V1_35 = FrameworkRelease(
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
    prefers_nominated=True,
)
RELEASES: dict[str, FrameworkRelease] = {release.name: release for release in (V1_22, V1_35)}
