"""PreFilter: rejects a pod whose group cannot be scheduled now (PodGroupManager.PreFilter)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct

from scheduler_core.kubernetes.model import Pod, PodGroup
from scheduler_core.kubernetes.quantity import format_resource
from scheduler_core.schedulers.coscheduling.arguments import Arguments
from scheduler_core.schedulers.coscheduling.editions import Edition, PluginCode
from scheduler_core.schedulers.coscheduling.groups import Gangs
from scheduler_core.schedulers.coscheduling.resource_check import (
    PODS,
    NodeResources,
    ResourceCheck,
    check_cluster_resources,
)
from scheduler_core.schedulers.coscheduling.state import GangState

PreFilterReason = Literal[
    "no-group",
    "group-missing",
    "denied",
    "backed-off",
    "too-few-siblings",
    "gated",
    "no-min-resources",
    "permitted",
    "enough",
    "gap",
]
NodesWithout = Callable[[str], Iterable[NodeResources]]


class PreFilterResult(Struct, frozen=True):
    """The result of PreFilter for a pod, and the rule that decided it.

    ``siblings`` of ``min_member`` exist, ``gated`` of them are held by scheduling gates; ``until`` is when a
    denial, a back-off or a permission expires, in virtual seconds.
    """

    code: PluginCode
    why: PreFilterReason
    message: str = ""
    group: str = ""
    siblings: int | None = None
    gated: int | None = None
    min_member: int | None = None
    until: float | None = None
    check: ResourceCheck | None = None

    @property
    def success(self) -> bool:
        """Return whether the pod proceeds to Filter."""
        return self.code == "Success"


def pre_filter(
    edition: Edition,
    arguments: Arguments,
    gangs: Gangs,
    state: GangState,
    pod: Pod,
    nodes: NodesWithout,
    now: float,
) -> PreFilterResult:
    """Apply the rules in turn. ``nodes`` yields the nodes' resources without the members of a group.

    Marks a group as permitted if the resources suffice, and (classic) as denied if they do not.
    """
    key, group = gangs.of_pod(pod)
    if group is None:
        return PreFilterResult("Success", "group-missing" if key else "no-group", group=key)
    refused = _refused(edition, state, key, now) or _too_few(edition, gangs, pod, key, group)
    if refused is not None:
        return refused
    counted = len(gangs.members(key))
    if group.min_resources is None:
        return PreFilterResult(
            "Success", "no-min-resources", group=key, siblings=counted, min_member=group.min_member
        )
    until = state.permitted.until(key, now)
    if until is not None:
        return PreFilterResult(
            "Success", "permitted", group=key, siblings=counted, min_member=group.min_member, until=until
        )
    check = check_cluster_resources(nodes(key), {**group.min_resources, PODS: group.min_member})
    if check.enough:
        state.permitted.add(key, arguments.permit_waiting_seconds, now)
    elif edition.denies:
        state.denied.add(key, arguments.denied_seconds, now)
    return PreFilterResult(
        "Success" if check.enough else edition.pre_filter_code,
        "enough" if check.enough else "gap",
        "" if check.enough else f"resource gap: {_shown(check)}",
        key,
        siblings=counted,
        min_member=group.min_member,
        until=state.permitted.until(key, now),
        check=check,
    )


def _refused(edition: Edition, state: GangState, key: str, now: float) -> PreFilterResult | None:
    """Reject the pods of a group that failed recently.

    The message has 3s regardless of deniedPGExpirationTimeSeconds: it is a constant of the plugin.
    """
    denied = state.denied.until(key, now) if edition.denies else None
    if denied is not None:
        message = f"pod with pgName: {key} last failed in 3s, deny"
        return PreFilterResult(edition.pre_filter_code, "denied", message, key, until=denied)
    backed_off = state.backed_off.until(key, now) if edition.backs_off else None
    if backed_off is not None:
        message = f"podGroup {key} failed recently"
        return PreFilterResult(edition.pre_filter_code, "backed-off", message, key, until=backed_off)
    return None


def _too_few(edition: Edition, gangs: Gangs, pod: Pod, key: str, group: PodGroup) -> PreFilterResult | None:
    members = gangs.members(key)
    needed = group.min_member
    counted = len(members)
    name = pod.meta.name
    if counted < needed:
        message = (
            f"pre-filter pod {name} cannot find enough sibling pods, "
            f"current pods number: {counted}, minMember of group: {needed}"
        )
        return PreFilterResult(
            edition.pre_filter_code, "too-few-siblings", message, key, siblings=counted, min_member=needed
        )
    gated = sum(bool(member.scheduling_gates) for member in members.values())
    if edition.counts_gated and counted - gated < needed:
        message = f"pre-filter pod {name} cannot proceed due to gated pods in the same PodGroup"
        return PreFilterResult(
            edition.pre_filter_code, "gated", message, key, siblings=counted, gated=gated, min_member=needed
        )
    return None


def _shown(check: ResourceCheck) -> str:
    """Format the resource gap as a Go map, with quantities as Kubernetes prints them."""
    parts = (f"{name}:{format_resource(name, amount)}" for name, amount in sorted(check.gap.items()))
    return f"map[{' '.join(parts)}]"
