"""Coscheduling and its controller as plugins of the framework, which apply the library's decisions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.kubernetes.model import Pod, PodGroup, PodGroupStatus
from scheduler_core.kubernetes.times import rfc3339, seconds_of
from scheduler_core.record.timeline import UNSETTLED
from scheduler_core.schedulers.coscheduling.arguments import Arguments
from scheduler_core.schedulers.coscheduling.controller import PHASE_TABLES, SyncResult, sync
from scheduler_core.schedulers.coscheduling.editions import Edition
from scheduler_core.schedulers.coscheduling.groups import Gangs, group_key
from scheduler_core.schedulers.coscheduling.node_requests import RequestedByNode
from scheduler_core.schedulers.coscheduling.permit import end_wait, permit, unreserve
from scheduler_core.schedulers.coscheduling.post_bind import post_bind
from scheduler_core.schedulers.coscheduling.post_filter import post_filter
from scheduler_core.schedulers.coscheduling.pre_filter import pre_filter
from scheduler_core.schedulers.coscheduling.queue_sort import sort_key
from scheduler_core.schedulers.coscheduling.rejection import Rejection
from scheduler_core.schedulers.coscheduling.resource_check import NodeResources
from scheduler_core.schedulers.coscheduling.state import GangState
from scheduler_core.schedulers.v1_22.interface import Plugin
from scheduler_core.schedulers.v1_22.queue import QueuedPod
from scheduler_core.schedulers.v1_22.schedulers import SCHEDULERS
from scheduler_core.schedulers.v1_22.status import SUCCESS, Status

NAME = "Coscheduling"


class Coscheduling(Plugin):
    """The plugin with its state. ``epoch`` is virtual time 0 in seconds since 1970."""

    name = NAME
    events = frozenset({"AssignedPodAdd", "UnscheduledPodAdd", "PodGroupAdd", "PodGroupUpdate"})

    def __init__(self, edition: Edition, arguments: Arguments, epoch: float = 0.0) -> None:
        self.edition = edition
        self.arguments = arguments
        self.state = GangState(epoch=epoch)
        self.gangs = Gangs()
        self._requests = RequestedByNode()
        self._seen: dict[str, PodGroupStatus] = {}  # the status in the plugin's memory, ahead of the API

    def sort_key(self, pod: QueuedPod) -> Any:
        """Return the sort key: priority, group time and name."""
        return sort_key(self.edition, self.gangs, self.state, pod.state.pod, pod.queued).order

    def shown_sort_key(self, pod: QueuedPod) -> tuple[tuple[float | str, ...], str]:
        """Return the sort key with the time in virtual seconds, and whose time it is."""
        key = sort_key(self.edition, self.gangs, self.state, pod.state.pod, pod.queued)
        return (key.priority, round(key.time - self.state.epoch, 6), key.key), key.time_from

    def holds_until(self, now: float) -> Iterator[float]:
        """Yield the ends of the groups' denials and backoffs."""
        for entries in (self.state.denied, self.state.backed_off):
            yield from (now + left for _, left in entries.alive(now) if left < math.inf)

    def pre_filter(self, pod: QueuedPod) -> Status:
        """Reject pods whose group is denied, backed off, too small or larger than the cluster."""
        now = self.framework.clock.now
        found = pre_filter(
            self.edition, self.arguments, self.gangs, self.state, pod.state.pod, self._nodes, now
        )
        return Status(found.code, found.message, found)

    def post_filter(self, pod: QueuedPod, attempt: object) -> Status:
        """Reject the whole group if too many of its members are missing."""
        del attempt
        assigned = self._assigned(pod)
        found = post_filter(
            self.edition,
            self.arguments,
            self.gangs,
            self.state,
            pod.state.pod,
            assigned,
            self.framework.clock.now,
        )
        self._reject(found.rejection)
        return Status(found.code, found.message, found)

    def works_at(self, point: str) -> bool:
        """Return whether it runs at an extension point; PostBind only if the edition counts bound members."""
        return super().works_at(point) and (point != "postBind" or self.edition.post_bind)

    def permit(self, pod: QueuedPod, node: str) -> Status:
        """Wait for the group, or allow all its waiting members too."""
        now = self.framework.clock.now
        failed_before = group_key(pod.state.pod) in self.state.failed_at
        found = permit(
            self.edition,
            self.arguments,
            self.gangs,
            self.state,
            pod.state.pod,
            node,
            self._assigned(pod),
            now,
        )
        if failed_before and found.why == "complete":
            self._resort()  # the group sorts by its own time again
        for key in found.allowed:
            self.framework.waiting.allow(key, self.name)
        self.framework.activate(found.activated)
        if not found.group:
            return SUCCESS
        return Status(found.code, found.message, found, seconds=found.seconds or 0.0)

    def permitted(self, pod: QueuedPod) -> None:
        """Remove a waiting pod that has its verdict."""
        end_wait(self.state, pod.state.pod)

    def unreserve(self, pod: QueuedPod) -> None:
        """Reject the group of a pod that was unreserved."""
        now = self.framework.clock.now
        self._reject(unreserve(self.edition, self.arguments, self.gangs, self.state, pod.state.pod, now))

    def post_bind(self, pod: QueuedPod) -> None:
        """Count a bound member in the PodGroup's status (classic)."""
        key = group_key(pod.state.pod)
        group = self.framework.groups.get(key)
        if group is None or not self.edition.post_bind:
            return
        seen = replace(group, status=self._seen.get(key, group.status))
        done = post_bind(seen, group.status, self._date())
        self._seen[key] = done.seen
        if done.patched:
            self.framework.patch_group(key, done.stored)

    def pod_changed(self, key: str) -> None:
        """Keep members and assigned sets up to date."""
        pod = self.framework.pods.get(key)
        if pod is None or pod.terminal:  # the scheduler does not watch finished pods
            previous = self.gangs.pod(key)
            if previous is not None:
                self.state.unassign(group_key(previous), previous.meta.name)
            self.gangs.remove_pod(key)
            return
        self.gangs.put(pod)
        if self.edition.keeps_assigned and pod.pod_group and pod.node_name:
            self.state.assign(group_key(pod), pod.meta.name)

    def group_changed(self, key: str) -> None:
        """Adopt the API's version of a group, even if its status lags behind the plugin's own count."""
        group = self.framework.groups.get(key)
        previous = self.gangs.groups.get(key)
        if group is not None:
            self.gangs.put(group)
            self._seen[key] = group.status
        else:
            self.gangs.groups.pop(key, None)
            self._seen.pop(key, None)
        if _created(previous) != _created(group):
            self._resort()  # the sort time of its members has changed

    def _resort(self) -> None:
        """Sort the queue again."""
        self.framework.queue.resort()

    def _assigned(self, pod: QueuedPod) -> int:
        """Count the members that hold a node, except the pod itself, which is not yet in the snapshot."""
        key = group_key(pod.state.pod)
        if self.edition.keeps_assigned:
            return len(self.state.assigned.get(key, ()))
        cluster = self.framework.cluster
        states = (cluster.pods.get(member) for member in self.gangs.members(key) if member != pod.key)
        return sum(1 for state in states if state is not None and state.node >= 0)

    def _date(self) -> str:
        """Return the current time in the API's format."""
        return rfc3339(int(self.state.epoch + self.framework.clock.now))

    def _nodes(self, group: str) -> Iterable[NodeResources]:
        members = (self.framework.cluster.pods.get(key) for key in self.gangs.members(group))
        return self._requests.nodes(self.framework.cluster, [state for state in members if state is not None])

    def _reject(self, rejection: Rejection | None) -> None:
        if rejection is None:
            return
        for key in rejection.rejected:
            self.framework.waiting.reject(key, self.name, rejection.message)
        if self.edition.failure_sorts:
            self._resort()


def _created(group: PodGroup | None) -> float | None:
    return seconds_of(group.meta.creation_timestamp) if group is not None else None


class PhaseChange(Struct, frozen=True):
    """A sync that changed a PodGroup's status, for the phase diagram and the timeline."""

    group: str
    before: PodGroupStatus
    sync: SyncResult


class PodGroupController(Plugin):
    """The controller next to the scheduler: syncs a PodGroup when it or one of its pods changes."""

    name = "PodGroupController"

    def __init__(self, edition: Edition) -> None:
        self.edition = edition.id
        self.table = PHASE_TABLES[edition.id]
        self._queued: set[str] = set()
        self._members: dict[str, dict[str, Pod]] = {}  # by group name only: it lists all namespaces
        self._name_of: dict[str, str] = {}  # pod key -> group name
        self._warned: dict[str, str] = {}  # groups that are too old, with the phase already warned about
        self._moment = -1.0
        self._written: dict[str, list[PodGroupStatus]] = {}  # at this moment, by group

    def pod_changed(self, key: str) -> None:
        """Queue a sync of the pod's group; deletions queue none."""
        pod = self.framework.pods.get(key)
        name, previous = "" if pod is None else pod.pod_group, self._name_of.get(key)
        if previous is not None and previous != name:
            del self._members[previous][key], self._name_of[key]
        if pod is None or not name:
            return
        self._name_of[key] = name
        self._members.setdefault(name, {})[key] = pod
        if group_key(pod) in self.framework.groups:
            self._enqueue(group_key(pod))

    def group_changed(self, key: str) -> None:
        """Queue a sync."""
        self._enqueue(key)

    def members(self, name: str) -> Iterable[Pod]:
        """Return the pods that name a group, from all namespaces, including finished ones."""
        return self._members.get(name, {}).values()

    def _enqueue(self, key: str) -> None:
        if key not in self._queued:
            self._queued.add(key)
            self.framework.later(partial(self._sync, key))

    def _sync(self, key: str) -> None:
        self._queued.discard(key)
        group = self.framework.groups.get(key)
        if group is None:
            self._warned.pop(key, None)
            return
        members = list(self._members.get(group.meta.name, {}).values())
        if any(group_key(pod) == key and pod.scheduler_name in SCHEDULERS for pod in members):
            return  # it belongs to a scheduler with a PodGroup of its own API group, which writes its status
        found = sync(self.table, group, group.status, members)
        if found.warning and self._warned.get(key) != group.status.phase:
            self._warned[key] = group.status.phase
            self.framework.record_event("Timeout", key, found.warning)
        if found.status != group.status and not self._goes_round(key, group, found.status):
            self.framework.record_event(
                "PodGroupSync", key, found.status.phase, PhaseChange(key, group.status, found)
            )
            self.framework.patch_group(key, found.status)

    def _goes_round(self, key: str, group: PodGroup, status: PodGroupStatus) -> bool:
        """Return whether a status was already written at this virtual time, so syncing would never end.

        With minMember 0 and no member the classic rules undo each other. A real controller keeps syncing for
        as long as the PodGroup exists; here the virtual time would never advance.
        """
        now = self.framework.clock.now
        if now != self._moment:
            self._moment, self._written = now, {}
        written = self._written.setdefault(key, [group.status])
        if status not in written:
            written.append(status)
            return False
        phases = " to ".join(dict.fromkeys(one.phase for one in written[written.index(status) :]))
        self.framework.record_event(
            UNSETTLED,
            key,
            f"PodGroup {key} goes from {phases} and round again: with minMember {group.min_member} the "
            f"controller's rules never settle. It is left in {group.status.phase} here",
        )
        return True
