"""Coscheduling of scheduler-plugins: all pods of a PodGroup of scheduling.x-k8s.io start together, or none.

The rules are those of :mod:`scheduler_core.schedulers.coscheduling`, in the edition of the main branch of
scheduler-plugins. What the plugin remembers between attempts is in its :class:`PodGroupManager`; without one,
in dry runs on a copy of the cluster, it refuses nothing.
"""

from __future__ import annotations

from typing import Protocol

from scheduler_core.schedulers.coscheduling.editions import CURRENT
from scheduler_core.schedulers.coscheduling.pre_filter import PreFilterResult
from scheduler_core.schedulers.v1_37.interface import ClusterEventWithHint
from scheduler_core.schedulers.v1_37.plugins.base import Context, Plugin, Status, unresolvable
from scheduler_core.schedulers.v1_37.plugins.declaration import Argument, Declared
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.status import OK, UNSCHEDULABLE

NAME = "Coscheduling"
POD_GROUPS = "podgroups.v1alpha1.scheduling.x-k8s.io"
"""The resource of its PodGroups in the names of events."""

_TEXTS = {
    "permitWaitingTimeSeconds": "how long a pod waits for its group, if the group sets no time",
    "podGroupBackoffSeconds": "how long a group that was rejected is not tried again; 0: at once",
    "podGroupRejectPercentage": "0 to 100: the share of missing pods up to which a group is not rejected",
}


class PodGroupManager(Protocol):
    """What the plugin remembers in a running scheduler (core.PodGroupManager)."""

    def check(self, pod: CompiledPod) -> PreFilterResult:
        """Apply the rules of PreFilter without remembering what they find."""
        ...

    def give_up(self, pod: CompiledPod) -> str:
        """Reject the group of a pod that fits nowhere, if too many others are missing; return the message."""
        ...


class Coscheduling(Plugin):
    """Refuses pods whose group cannot start now, and rejects a group with its first pod that fits nowhere."""

    key = NAME
    of_class = False

    def pre_filter(self, ctx: Context) -> tuple[Status, frozenset[str] | None]:
        """Refuse a pod whose group backs off, lacks members, or needs more than is free in all."""
        manager = self._manager(ctx)
        if manager is None:
            return OK, None
        found = ctx.states[self.key] = manager.check(ctx.pod)
        return (OK if found.success else unresolvable(found.message)), None

    def post_filter(self, ctx: Context) -> Status:
        """Reject the pods of the group that wait at Permit, unless few are missing."""
        manager = self._manager(ctx)
        text = "" if manager is None else manager.give_up(ctx.pod)
        return Status(UNSCHEDULABLE, (text,) if text else ())

    def _manager(self, ctx: Context) -> PodGroupManager | None:
        found: PodGroupManager | None = ctx.handles.get(self.key)
        return found


PLUGIN = Declared(
    NAME,
    "queueSort preFilter postFilter reserve permit",
    otherwise="Sorts the queue by the creation of PodGroups; Permit holds the pods of a group until "
    "minMember of them have nodes, and all fail with the first that does not get one in time",
    arguments=tuple(
        Argument(
            one.name, "integer", one.default, _TEXTS[one.name], least=one.low or 0, most=one.high or 2**31 - 1
        )
        for one in CURRENT.arguments
    ),
    events=(
        ClusterEventWithHint("AssignedPod", frozenset({"Add"})),
        ClusterEventWithHint("UnscheduledPod", frozenset({"Add"})),
        ClusterEventWithHint(POD_GROUPS, frozenset({"Add", "Update"})),
    ),
    until="a pod is created or bound, or a PodGroup is created or changes",
    code=Coscheduling(),
)
