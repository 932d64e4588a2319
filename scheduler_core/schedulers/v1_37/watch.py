"""From a write to the queue: its events, the pods that enter and those that leave (eventhandlers.go)."""

from __future__ import annotations

from scheduler_core.schedulers.v1_37.change import Manifest, ObjectWrite
from scheduler_core.schedulers.v1_37.clock import SECOND
from scheduler_core.schedulers.v1_37.device_taints import RULE, changed_slices
from scheduler_core.schedulers.v1_37.entities import Entity, QueuedGroup, QueuedPodInfo
from scheduler_core.schedulers.v1_37.events import (
    RESOURCES,
    assigned,
    assigned_pod_events,
    exists,
    nominated_node,
    object_events,
    target_pod_events,
)
from scheduler_core.schedulers.v1_37.interface import ClusterEvent
from scheduler_core.schedulers.v1_37.nominations import NominatedPods
from scheduler_core.schedulers.v1_37.podgroups import GATE, group_key, priority
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration
from scheduler_core.schedulers.v1_37.queue import SchedulingQueue, new_pod
from scheduler_core.schedulers.v1_37.state import ClusterState


class EventHandlers:
    """The scheduler's event handlers. Pods of a PodGroup that does not exist yet wait in ``incomplete``."""

    def __init__(
        self,
        cluster: ClusterState,
        configuration: CompiledConfiguration,
        queue: SchedulingQueue,
        nominations: NominatedPods,
    ) -> None:
        self.cluster = cluster
        self.configuration = configuration
        self.queue = queue
        self.nominations = nominations
        self.incomplete: dict[str, list[QueuedPodInfo]] = {}
        self.pending: dict[str, list[QueuedPodInfo]] = {}
        """Members of a group that is being tried, until it is filed again."""

    def see(self, change: ObjectWrite) -> None:
        """Notify the queue of a write, after the time that it took."""
        if change.seconds:
            self.queue.pass_to(self.queue.clock.now + round(change.seconds * SECOND))
        if change.kind == "Pod":
            self._see_pod(change.key, change.old, change.new)
            return
        if change.kind == "PodGroup" and change.old is None:
            for waiting in self.incomplete.pop(change.key, []):
                self._enter(waiting)
        if change.kind == "PodGroup" and change.new is None:
            self._lose_group(change.key)
        if change.kind == RULE:  # a tracker shows rules as updates of the slices whose taints change
            for one in changed_slices(self.cluster, change):
                self.queue.broadcast(ClusterEvent(RESOURCES["ResourceSlice"], "Update", one, one))
        for event in object_events(change) if self.queue.hears else ():
            self.queue.broadcast(event)

    def _see_pod(self, key: str, old: Manifest | None, new: Manifest | None) -> None:
        before = old if exists(old) else None
        now = new if exists(new) else None
        if before is not None and now is not None:
            if assigned(before):
                events = assigned_pod_events(before, now, self.configuration.dialect)
                for event in events if self.queue.hears else ():
                    self.queue.broadcast(event)
            elif assigned(now):
                self.queue.broadcast(ClusterEvent("AssignedPod", "Add", None, now))
                self._leave(key, before)
            else:
                self._update(key, before, now)
        elif now is not None:
            if assigned(now):
                self.queue.broadcast(ClusterEvent("AssignedPod", "Add", None, now))
            elif self._handled(now):
                self._arrive(key, now)
        elif before is not None:
            if assigned(before):
                self.queue.broadcast(ClusterEvent("AssignedPod", "Delete", before, None))
            elif self._handled(before):
                self._leave(key, before)
                if nominated_node(before):
                    self._nomination_lost(before)

    def _handled(self, pod: Manifest) -> bool:
        name = (pod.get("spec") or {}).get("schedulerName") or "default-scheduler"
        return name in self.configuration.profiles

    # Waiting pods.

    def _arrive(self, key: str, pod: Manifest) -> None:
        waiting = new_pod(self.queue, self.cluster.pods[key])
        self.nominations.put(waiting.pod)
        self._enter(waiting)
        self.queue.broadcast(ClusterEvent("UnscheduledPod", "Add", None, pod))

    def arrives_alone(self, pod: CompiledPod) -> bool:
        """Return whether the pod waits as active, and the arrival of another one like it does nothing else.

        It is of no PodGroup and no claim, so that what gates it is in its specification.
        """
        if pod.nominated_node or pod.spec.get("resourceClaims") or group_key(pod.manifest) is not None:
            return False
        active = self.queue.active.get(pod.key)
        return active is not None and self.queue.is_still(
            ClusterEvent("UnscheduledPod", "Add", None, pod.manifest)
        )

    def _update(self, key: str, old: Manifest, new: Manifest) -> None:
        pod = self.cluster.pods[key]
        waiting = self.find(key)
        if waiting is None:
            return
        waiting.pod = pod
        self.nominations.put(pod)
        entity = self.group_of(new) or key
        for event in target_pod_events(old, new, self.configuration.dialect):
            if self.queue.notify(entity, event):
                break
        if nominated_node(old) and nominated_node(old) != nominated_node(new):
            self._nomination_lost(old)

    def _nomination_lost(self, pod: Manifest) -> None:
        """Count a lost nomination as the pod's deletion from the node, for pods that had to respect it."""
        self.queue.broadcast(
            ClusterEvent("AssignedPod", "Delete", pod, None), at_most=CompiledPod(pod).priority
        )

    def _leave(self, key: str, pod: Manifest) -> None:
        self.nominations.drop(key)
        group = self.group_of(pod)
        if group is None:
            self.queue.remove(key)
            return
        self.incomplete[group] = [w for w in self.incomplete.get(group, ()) if w.key != key]
        entity, name = self.queue.remove(group)
        if not isinstance(entity, QueuedGroup):
            return
        entity.take(key)
        if entity.members:
            self.queue.file_again(entity, name)

    def find(self, key: str) -> QueuedPodInfo | None:
        """Return a waiting pod wherever it is."""
        pod = self.cluster.pods[key]
        group = self.group_of(pod.manifest)
        if group is None:
            entity = self.queue.find(key)
            return entity if isinstance(entity, QueuedPodInfo) else None
        entity = self.queue.find(group)
        members = [
            *(entity.members if entity else ()),
            *self.incomplete.get(group, ()),
            *self.pending.get(group, ()),
        ]
        return next((member for member in members if member.key == key), None)

    # Groups.

    def group_of(self, pod: Manifest) -> str | None:
        """Return the group that the pod is scheduled with."""
        return group_key(pod) if self.configuration.gate(GATE) else None

    def _enter(self, waiting: QueuedPodInfo) -> None:
        group = self.group_of(waiting.pod.manifest)
        if group is None:
            self.queue.enter(waiting)
        else:
            self._enter_member(group, waiting)

    def _enter_member(self, group: str, waiting: QueuedPodInfo) -> None:
        """Add a member: with its group, which is filed again, or as the first of it."""
        entity, name = self.queue.remove(group)
        found = self.gathered(group, waiting, entity)
        if found is None:
            return
        if found is entity:
            self.queue.file_again(entity, name)
        else:
            self.queue.enter(found)

    def gathered(
        self, group: str, waiting: QueuedPodInfo, entity: Entity | None = None
    ) -> QueuedGroup | None:
        """Return the entity of a group with another member, ``None`` if there is no such PodGroup.

        ``entity`` is the one that was in the queue.
        """
        manifest = self.cluster.objects.get("PodGroup", {}).get(group)
        if manifest is None:
            self.incomplete.setdefault(group, []).append(waiting)
            return None
        if isinstance(entity, QueuedGroup):
            entity.add(waiting)
            return entity
        number = self.queue.number()
        return QueuedGroup(
            group, priority(manifest), number, waiting.since, [waiting], backoff=self.queue.backs_off
        )

    def _lose_group(self, group: str) -> None:
        entity, _ = self.queue.remove(group)
        if isinstance(entity, QueuedGroup):
            self.incomplete.setdefault(group, []).extend(entity.members)
