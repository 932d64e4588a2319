"""The objects in the API server, and their delivery to the scheduler as informer events, one per turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, ClassVar, Literal

from msgspec.structs import replace

from scheduler_core.forks import Copier, Forkable, flat
from scheduler_core.interrupts import look
from scheduler_core.kubernetes.model import (
    KubernetesObject,
    Pod,
    PodGroup,
    PodGroupStatus,
    PriorityClass,
    Queue,
)
from scheduler_core.kubernetes.provisioner import volume_for, with_selected_node
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_22.clock import VirtualClock
from scheduler_core.schedulers.v1_22.events import EventName
from scheduler_core.schedulers.v1_22.interface import Plugin
from scheduler_core.schedulers.v1_22.profile_runtime import ProfileRuntime
from scheduler_core.schedulers.v1_22.queue import QueuedPod, VirtualQueue
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_22.releases import FrameworkRelease
from scheduler_core.schedulers.v1_22.waiting_pods import WaitingPods

CREATED: Mapping[str, EventName] = {
    "Node": "NodeAdd",
    "PersistentVolume": "PvAdd",
    "PersistentVolumeClaim": "PvcAdd",
    "StorageClass": "StorageClassAdd",
    "Service": "ServiceAdd",
}
UPDATED: Mapping[str, EventName] = {
    "Node": "NodeUpdate",
    "PersistentVolume": "PvUpdate",
    "PersistentVolumeClaim": "PvcUpdate",
}
DELETED: Mapping[str, EventName] = {"Node": "NodeDelete"}
MOST_TURNS = 50_000  # in one call of `take_turns`, in addition to TURNS_EACH per object
TURNS_EACH = 50  # reactions to one event (a Deployment's rollout, a gang's rejection) grow with the pods
LOOKED = 256  # turns between two calls of `interrupt`


class Api(Forkable):
    """The objects in the API; a later turn delivers a change to the queue, waiting pods and plugins.

    ``pods`` have a node once they are bound; ``deleted`` lists the keys of deleted pods in order.
    ``gave_up`` names the bound that a chain of reactions exceeded; no event is delivered after that.
    ``interrupt``, by default the hook in force, is called periodically and may raise, which leaves the
    framework unusable.
    """

    clock: VirtualClock
    cluster: Cluster
    queue: VirtualQueue
    waiting: WaitingPods
    plugins: tuple[Plugin, ...]
    runtimes: Mapping[str, ProfileRuntime]
    runtime: ProfileRuntime
    release: FrameworkRelease
    binding: dict[str, QueuedPod]  # assumed pods, until they are bound or forgotten
    post_filter_phases: tuple[str, ...] = ("postFilter",)  # with one of them PostFilter is over
    bound_phase: str = "Running"  # the phase of a pod as soon as it is bound

    FORKED: ClassVar[Mapping[str, Copier]] = dict.fromkeys(
        ("groups", "pods", "others", "deleted", "record", "leaving", "to_activate"), flat
    )

    def __init__(
        self,
        keep: Callable[[Attempt | TimelineEvent], None] | None,
        interrupt: Callable[[], None] | None = None,
    ) -> None:
        self.groups: dict[str, PodGroup] = {}
        self.pods: dict[str, Pod] = {}
        self.others: dict[tuple[str, str], KubernetesObject] = {}  # read only by custom schedulers
        self.deleted: list[str] = []
        self.record: list[Attempt | TimelineEvent] = []
        self.keep = keep or self._remember
        self.turns: deque[Callable[[], None]] = deque()
        self.leaving: dict[str, bool] = {}  # deleted or finished pods, and whether bound: not yet delivered
        self.to_activate: dict[str, None] = {}  # at the end of this scheduling cycle
        self.gave_up = ""
        self.interrupt = interrupt or look
        self._last_about = ""

    def _remember(self, what: Attempt | TimelineEvent) -> None:
        self.record.append(what)

    def begin(self, objects: list[KubernetesObject], between: float) -> None:
        """Add all objects before the first attempt; PodGroups precede pods, ``between`` seconds apart."""
        for obj in objects:
            if not isinstance(obj, (Pod, PodGroup)):
                self.cluster.put(obj)
                self._keep_other(obj)
        for obj in objects:
            if isinstance(obj, PodGroup):
                self.put_group(obj)
        self.take_turns()
        for obj in objects:
            if isinstance(obj, Pod):
                self.interrupt()
                self.create_pod(obj)
                self.clock.spend(between)
        self.take_turns()
        self.cluster.refresh()

    def runtime_of(self, pod: QueuedPod) -> ProfileRuntime:
        """Return the runtime of a pod's profile; the main runtime for a pod of another scheduler."""
        return self.runtimes.get(pod.state.pod.scheduler_name, self.runtime)

    def profile_of(self, pod: QueuedPod) -> Profile:
        """Return the profile that filters and scores for a pod."""
        return self.runtime_of(pod).scheduling.profile

    def responsible(self, pod: Pod) -> bool:
        """Return whether this scheduler is responsible for a pod; without profiles, for every pod."""
        return not self.runtimes or pod.scheduler_name in self.runtimes

    def let_unreserve(self, pod: QueuedPod) -> None:
        """Run Unreserve for a pod in all Reserve plugins, in reverse order."""
        for plugin in reversed(self.runtime_of(pod).at["reserve"]):
            plugin.unreserve(pod)

    def later(self, action: Callable[[], None]) -> None:
        """Queue an action of another goroutine as a turn."""
        self.turns.append(action)

    def take_turns(self) -> None:
        """Run every queued turn and the turns that they add, up to a bound: see ``gave_up``."""
        bound = MOST_TURNS + TURNS_EACH * (len(self.pods) + len(self.groups))
        taken = 0
        while self.turns:
            if taken == bound:
                last = f"; the last concerned {self._last_about}" if self._last_about else ""
                self.gave_up = f"More than {bound:,} reactions followed from each other at one moment{last}"
            if self.gave_up:
                self.turns.clear()
                return
            if taken % LOOKED == 0:
                self.interrupt()
            taken += 1
            self.turns.popleft()()

    def record_event(self, what: str, about: str = "", text: str = "", detail: object = None) -> None:
        """Record a timeline event at the current time."""
        self._last_about = about or self._last_about
        self.keep(TimelineEvent(self.clock.now, what, about, text, detail))

    def store_pod(self, key: str, pod: Pod) -> None:
        """Write a pod's new version; nothing is notified of it here."""
        self.pods[key] = pod

    def remove_pod(self, key: str) -> None:
        """Remove a pod from the store; nothing is notified of it here."""
        del self.pods[key]

    def create_pod(self, pod: Pod) -> None:
        """Create a pod, pending or bound."""
        key = pod.meta.key
        if key in self.leaving:  # the name is reused: deliver the old pod's deletion before the creation
            self._heard_of_leaving(key)
        self.store_pod(key, pod)
        state = self.cluster.put(pod)
        if state is not None and not state.node_name and self.responsible(pod):
            self.enqueue(state)
        self._pod_changed(key)

    def enqueue(self, state: PodState) -> None:
        """Queue a pod that is new to this scheduler."""
        self.queue.add(state, gated=self.release.gates and bool(state.pod.scheduling_gates))
        if self.release.pod_add_wakes:
            self.later(partial(self.move, "UnscheduledPodAdd"))

    def finish_pod(self, key: str, phase: Literal["Succeeded", "Failed"]) -> None:
        """Finish a bound pod: its resources become free, and the scheduler no longer watches it."""
        pod = self.pods.get(key)
        if pod is None or not pod.node_name or pod.terminal:
            return
        self.store_pod(key, replace(pod, phase=phase))
        self.record_event(phase, key)
        self.leave(key, bound=True)

    def delete_pod(self, key: str) -> None:
        """Delete a pod in any state; the scheduler is notified in a later turn.

        It is not notified of a finished pod's deletion: it does not watch finished pods, and was notified
        when the pod finished.
        """
        pod = self.pods.get(key)
        if pod is None:
            return
        self.remove_pod(key)
        self.deleted.append(key)
        if pod.terminal:
            self.later(partial(self._forget_finished, key))
        else:
            self.leave(key, bound=bool(pod.node_name))

    def _forget_finished(self, key: str) -> None:
        self.cluster.finished.pop(key, None)
        self._pod_changed(key)

    def leave(self, key: str, *, bound: bool) -> None:
        """Queue the turn that notifies the scheduler of a deleted or finished pod."""
        self.leaving[key] = bound
        self.later(partial(self._heard_of_leaving, key))

    def _heard_of_leaving(self, key: str) -> None:
        bound = self.leaving.pop(key, None)
        if bound is None:  # already delivered when another pod reused the name
            return
        if bound:
            self.cluster.remove_pod(key)
            self._pod_changed(key)
            self.move("AssignedPodDelete")
        else:
            self._heard_of_pending(key)
        pod = self.pods.get(key)
        if pod is not None and pod.terminal:
            self.cluster.put(pod)

    def _heard_of_pending(self, key: str) -> None:
        """Remove an unbound pod and free what it reserved; pods that need it may be retried."""
        self.queue.remove(key)
        assumed = self.give_up(key, "removed")
        self.cluster.remove_pod(key)
        self._pod_changed(key)
        if assumed and self.release.forget_wakes:
            self.move("AssignedPodDelete")

    def give_up(self, key: str, message: str) -> bool:
        """Reject and unreserve a pod that others deleted or bound; return whether it was assumed."""
        self.waiting.reject(key, "", message)
        pod = self.binding.pop(key, None)
        if pod is not None:
            self.let_unreserve(pod)
        return pod is not None

    def create_binding(self, key: str, node: str) -> str:
        """Set a pod's node, as the API does for a Binding; return why the API rejects it, "" on success."""
        pod = self.pods.get(key)
        name = key.partition("/")[2]
        if pod is None:
            return f'pods "{name}" not found'
        if pod.node_name:
            held = f'pod {name} is already assigned to node "{pod.node_name}"'
            return f'Operation cannot be fulfilled on pods/binding "{name}": {held}'
        self.store_pod(key, replace(pod, node_name=node, phase=self.bound_phase))
        return ""

    def claims_bound(self, keys: Iterable[str]) -> None:
        """Handle claims whose volumes PreBind wrote to the API; nothing is notified here."""
        del keys

    def provision(self, key: str, node: str) -> None:
        """Create a volume for a node with the provisioner of the claim's class, and bind the claim to it."""
        storage = self.cluster.storage
        claim = with_selected_node(storage.claims[key], node)
        found, host = storage.class_of(claim), self.cluster.nodes.get(node)
        if found is None or host is None or not storage.made_for(claim, host):
            return
        volume = volume_for(claim, found, host)
        self.put_object(self.observe("create", volume))
        self.put_object(self.observe("update", replace(claim, volume_name=volume.meta.name)))
        self.record_event(
            "ProvisioningSucceeded", volume.meta.name, f"PersistentVolume {volume.meta.name} was provisioned"
        )

    def observe(self, action: Any, obj: KubernetesObject) -> KubernetesObject:
        """Return an object as the API stores it; nothing is notified of its change here."""
        del action
        return obj

    def evict(self, key: str, plugin: str) -> str:
        """Evict a pod for a preemptor: a pod that waits at Permit is rejected, any other deleted.

        Returns why the API rejects it, "" on success; it does if another preemptor has already had the pod
        deleted.
        """
        waits = self.waiting.get(key) is not None
        if not waits and key not in self.pods:
            return f'pods "{key.partition("/")[2]}" not found'
        self.record_event("Preempted", key, f"Preempted by {plugin}")
        if waits:
            self.waiting.reject(key, plugin, "preempted")
        else:
            self.delete_pod(key)
        return ""

    def queued(self, key: str) -> QueuedPod | None:
        """Return a pod as it waits in a queue, ``None`` if it does not."""
        return self.queue.pods.get(key)

    def retry_at(self, pod: QueuedPod) -> float | None:
        """Return when its queue tries a pod again whatever happens, in virtual seconds."""
        return self.queue.retry_at(pod)

    def clear_nomination(self, key: str) -> None:
        """End the nomination of a pod that waits in a queue."""
        pod = self.queue.pods.get(key)
        if pod is not None:
            pod.state.nominated = ""
            self.queue.nominate(pod.state)

    def put_group(self, group: PodGroup) -> None:
        """Create or replace a PodGroup; the scheduler and the controller are notified in a later turn."""
        key = group.meta.key
        event: EventName = "PodGroupUpdate" if key in self.groups else "PodGroupAdd"
        self.groups[key] = group
        self.later(partial(self._heard_of_group, key, event))

    def patch_group(self, key: str, status: PodGroupStatus) -> None:
        """Store a PodGroup's status in the API."""
        if key in self.groups:
            self.record_event("PodGroup", key, status.phase, status)
            self.put_group(replace(self.groups[key], status=status))

    def _heard_of_group(self, key: str, event: EventName) -> None:
        for plugin in self.plugins:
            plugin.group_changed(key)
        self.move(event)

    def move(self, event: EventName, but: str = "") -> None:
        """Requeue the unschedulable pods that an event may help, except the pod with the key ``but``."""
        moved = self.queue.move_all(event, but)
        if moved:
            self.record_event("Moved", "", f"{event} moved {', '.join(moved)}", moved)

    def activate(self, keys: Iterable[str]) -> None:
        """Request that pods be moved to the active queue, whatever is left of their backoff.

        They are moved at the end of this scheduling cycle, if it succeeds (PodsToActivate).
        """
        self.to_activate.update(dict.fromkeys(keys))

    def _activate(self) -> None:
        moved = self.queue.activate(self.to_activate)
        if moved:
            self.record_event("Activated", "", f"Permit activated {', '.join(moved)}", moved)

    def _pod_changed(self, key: str) -> None:
        for plugin in self.plugins:
            plugin.pod_changed(key)

    def bound(self) -> dict[str, str]:
        """Return the node of every bound pod, in creation order."""
        return {key: pod.node_name for key, pod in self.pods.items() if pod.node_name}

    def put_object(self, obj: KubernetesObject) -> None:
        """Create or replace an object other than a pod or a PodGroup."""
        kind, key = type(obj).__name__, obj.meta.key
        events = CREATED if self.cluster.find(kind, key) is None else UPDATED
        self.cluster.put(obj)
        self._keep_other(obj)
        self.cluster.refresh()
        self._later_event(events.get(kind))

    def delete_object(self, kind: str, key: str) -> None:
        """Delete an object other than a pod; a node's pods stay until they are deleted separately."""
        self.cluster.remove(kind, key)
        self.others.pop((kind, key), None)
        self.cluster.refresh()
        self._later_event(DELETED.get(kind))

    def _keep_other(self, obj: KubernetesObject) -> None:
        if isinstance(obj, (PriorityClass, Queue)):
            self.others[type(obj).__name__, obj.meta.key] = obj

    def _later_event(self, event: EventName | None) -> None:
        if event is not None:
            self.later(partial(self.move, event))
