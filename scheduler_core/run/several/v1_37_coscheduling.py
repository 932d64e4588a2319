"""Coscheduling on the view of a kube-scheduler v1.37: its rules, on the objects that v1.37 reads.

Only PodGroups of scheduling.x-k8s.io count, and pods that name one by its label. The resource check is on the
columns of v1.37, which count sidecars and what pods request as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace as copy_with

from scheduler_core.kubernetes.model import ObjectMeta, Pod
from scheduler_core.run.several.v1_37_view import V1_37View, is_of_plugin
from scheduler_core.schedulers.coscheduling.arguments import Arguments, read_arguments
from scheduler_core.schedulers.coscheduling.editions import CURRENT
from scheduler_core.schedulers.coscheduling.longest_wait import longest_wait
from scheduler_core.schedulers.coscheduling.plugin import Coscheduling
from scheduler_core.schedulers.coscheduling.pre_filter import PreFilterResult, pre_filter
from scheduler_core.schedulers.coscheduling.queue_sort import sort_key
from scheduler_core.schedulers.coscheduling.resource_check import PODS, NodeResources
from scheduler_core.schedulers.v1_37.clock import SECOND
from scheduler_core.schedulers.v1_37.entities import Entity, QueuedGroup, QueuedPodInfo
from scheduler_core.schedulers.v1_37.nodes import NodeTable
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration, KubeSchedulerProfile

NO_GROUP = "can not find pod group"


def is_enabled(profile: KubeSchedulerProfile) -> bool:
    """Return whether a profile runs Coscheduling."""
    return profile.enabled(Coscheduling.name)


def arguments_of(profile: KubeSchedulerProfile) -> Arguments:
    """Return the plugin's arguments in a profile."""
    return read_arguments(CURRENT, profile.arguments.get(Coscheduling.name) or {})


def longest_hold(configuration: CompiledConfiguration) -> float:
    """Return for how long the plugin may make a pod wait, PodGroups' own times aside; 0 without it."""
    profiles = filter(is_enabled, configuration.profiles.values())
    return max((longest_wait(arguments_of(one), CURRENT, ()) for one in profiles), default=0.0)


class V1_37Coscheduling(Coscheduling):
    """The plugin of one profile."""

    framework: V1_37View

    def __init__(self, profile: KubeSchedulerProfile, epoch: float) -> None:
        super().__init__(CURRENT, arguments_of(profile), epoch)
        self.profile = profile.scheduler_name
        self.runs_at = frozenset(point for point, names in profile.points.items() if self.name in names)

    # What it watches

    def pod_changed(self, key: str) -> None:
        """Keep members and assigned sets up to date; a pod without the plugin's label is no member."""
        pod = self.framework.pods.get(key)
        if pod is None or self._is_member(pod) or self.gangs.pod(key) is not None:
            super().pod_changed(key)

    def group_changed(self, key: str) -> None:
        """Adopt the API's version of a group of the plugin's API group."""
        group = self.framework.groups.get(key)
        if group is None or is_of_plugin(group):
            super().group_changed(key)

    def _is_member(self, pod: Pod) -> bool:
        return bool(pod.pod_group) and pod.meta.labels.get(self.edition.pod_label) == pod.pod_group

    def names_group(self, key: str) -> bool:
        """Return whether a pod is a member of a PodGroup, which need not exist."""
        return self.gangs.pod(key) is not None

    def _resort(self) -> None:
        self.framework.scheduler_run.queue.resort()

    # QueueSort

    def rank(self, entity: Entity) -> tuple[Any, ...]:
        """Return what Less compares; a group of kube-scheduler's own has the time at which it came."""
        if isinstance(entity, QueuedGroup):
            return -entity.priority, self.state.epoch + entity.since / SECOND, entity.key
        return sort_key(self.edition, self.gangs, self.state, *self._compared(entity)).order

    def shown(self, waiting: QueuedPodInfo) -> tuple[tuple[float | str, ...], str]:
        """Return what Less compares, with the time in virtual seconds, and whose time it is."""
        key = sort_key(self.edition, self.gangs, self.state, *self._compared(waiting))
        return (key.priority, round(key.time - self.state.epoch, 6), key.key), key.time_from

    def _compared(self, waiting: QueuedPodInfo) -> tuple[Pod, float]:
        pod = self.gangs.pod(waiting.key)
        if pod is None:  # the manifest of a pod may come before its typed object
            namespace, _, name = waiting.key.partition("/")
            pod = Pod(ObjectMeta(name, namespace), priority=waiting.priority)
        entered = waiting.since if waiting.entered is None else waiting.entered
        return pod, entered / SECOND

    # PreFilter and PostFilter

    def check(self, pod: CompiledPod) -> PreFilterResult:
        """Apply the rules of PreFilter without remembering what they find."""
        member = self.gangs.pod(pod.key)
        if member is None:
            return PreFilterResult("Success", "no-group")
        permitted, now = self.state.permitted, self.framework.clock.now
        state = copy_with(self.state, permitted=copy_with(permitted, entries=dict(permitted.entries)))
        return pre_filter(self.edition, self.arguments, self.gangs, state, member, self._nodes, now)

    def remember(self, found: PreFilterResult) -> None:
        """Remember that the resources of all nodes suffice for a group."""
        if found.why == "enough":
            seconds = self.arguments.permit_waiting_seconds
            self.state.permitted.add(found.group, seconds, self.framework.clock.now)

    def _nodes(self, group: str) -> Iterator[NodeResources]:
        """Yield the nodes in the order of the snapshot, with what pods outside of the group request."""
        cluster, wanted = self.framework.scheduler_run.cluster, self.gangs.groups[group].min_resources or {}
        own: dict[str, list[CompiledPod]] = {}
        for key in self.gangs.members(group):
            pod = cluster.pods.get(key)
            if pod is not None and pod.node:
                own.setdefault(pod.node, []).append(pod)
        for row in cluster.nodes.order:
            name = cluster.nodes.name(row)
            yield _resources(cluster.nodes, int(row), {*wanted, PODS}, own.get(name, ()))

    def give_up(self, pod: CompiledPod) -> str:
        """Reject the group of a pod that fits nowhere, if too many others are missing; return the message."""
        stage = self.framework.permits
        assert stage is not None
        if not self.names_group(pod.key):
            return NO_GROUP
        status = self.post_filter(stage.queued(pod.key), None)
        stage.note("PostFilter", self.name, status)
        return status.message


def _resources(
    nodes: NodeTable, row: int, wanted: set[str], members: list[CompiledPod] | tuple[()]
) -> NodeResources:
    """Return a node's amounts of the wanted resources, without what the members on it request."""
    status: Mapping[str, Any] = nodes.nodes[row].manifest.get("status") or {}
    offered = wanted & (status.get("allocatable") or {}).keys()
    allocatable = {name: int(nodes.column(nodes.allocatable, name)[row]) for name in offered}
    requested = {name: int(nodes.column(nodes.requested, name)[row]) for name in wanted}
    requested[PODS] = int(nodes.pod_counts[row])
    for pod in members:
        requested[PODS] -= 1
        for name in wanted - {PODS}:
            requested[name] -= pod.held.get(name, 0)
    return NodeResources(nodes.name(row), allocatable, requested)
