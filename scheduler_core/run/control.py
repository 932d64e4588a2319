"""A framework with its control plane: controllers, the kubelet, failing nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, ClassVar

from msgspec.structs import replace

from scheduler_core.cluster.availability import AvailabilityTracker
from scheduler_core.cluster.controllers.changes import Action, Change, ControllerOptions, timestamp
from scheduler_core.cluster.descheduler.actor import Descheduler
from scheduler_core.cluster.kueue.actor import Kueue
from scheduler_core.forks import Copier, Forkable, flat, same
from scheduler_core.interrupts import look
from scheduler_core.kubernetes.keys import key_of
from scheduler_core.kubernetes.model import KubernetesObject, Pod, PodGroup, PodGroupStatus
from scheduler_core.run.removals import removal_message
from scheduler_core.scenario.scenario import Operation
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.v1_22.clock import Timer
from scheduler_core.schedulers.v1_22.queue import QueuedPod
from scheduler_core.schedulers.v1_22.scheduler import Framework, Statuses

CONTROLLERS = "controllers"  # the name of the clock's timer for the controllers' next sync


class Manager(Forkable):
    """Who acts beside the scheduler: in a recording nobody, who has the objects of the start alone.

    :class:`.ControlPlaneManager` has controllers and kubelets. The caller drives it.
    """

    FORKED: ClassVar[Mapping[str, Copier]] = {"objects": same}

    gave_up = ""
    descheduler: Descheduler | None = None
    kueue: Kueue | None = None

    def __init__(self, options: ControllerOptions, objects: Iterable[KubernetesObject] = ()) -> None:
        self.options = options
        self.listed = tuple(objects)
        """The objects of the start, until the run has started."""
        self.objects = {key_of(obj): obj for obj in self.listed}
        """The objects that it knows, by key."""
        self.landing: Operation | None = None
        """The operation that is being applied, whose manifest says more than its object."""

    @property
    def full(self) -> bool:
        """Whether the limit on pods is reached."""
        return False

    @property
    def is_copyable(self) -> bool:
        """Whether no write of a controller waits."""
        return True

    def observe(self, action: Action, obj: KubernetesObject, now: float) -> KubernetesObject:
        """Take a change by others; return the object as stored."""
        del action, now
        return obj

    def moment(self, now: float) -> float:
        """Return the time of a controller that the clock's is, which may keep fewer decimals."""
        return now

    def settle(self, now: float) -> Iterable[Change]:
        """Return the changes that follow, in order."""
        del now
        return ()

    def next_time(self) -> float | None:
        """Return when :meth:`settle` is to be called at the latest."""
        return None

    def refuses(self, key: str) -> str:
        """Return why a pod cannot be bound, "" if it can."""
        del key
        return ""

    def delete(self, key: str, by: str, now: float) -> Pod | None:
        """Delete a pod for a client; return what is left of it until its kubelet ends it."""
        del key, by, now
        return None

    def provision(self, key: str, node: str, now: float) -> None:
        """Have a claim's volume provisioned for a node."""

    def rewrite(self, kind: str, key: str, status: Mapping[str, Any]) -> None:
        """Store another status of an object."""

    def operates(self, operation: Operation) -> bool:
        """Return whether an operation is on an object that has no typed one."""
        del operation
        return False

    def operate(self, operation: Operation) -> None:
        """Write what a user does to such an object."""

    def unfinished(self) -> Iterable[str]:
        """Return the drains that go on, with why their pods are still there."""
        return ()


class ControlledFramework(Framework):
    """Notifies a :class:`Manager` of every change and applies the changes its controllers return.

    The controllers sync in their turn, like everything else that runs beside the scheduling cycle. A bound
    pod runs once the kubelet has started it, terminates at the end of its run time, and is recreated if a
    controller needs it; one that is deleted stays, and counts on its node, until its kubelet has ended it. In
    a recording (not ``controlled``) only the scheduler acts: a bound pod runs until an operation terminates
    it.
    """

    _by = "user"  # who deletes

    FORKED: ClassVar[Mapping[str, Copier]] = {"changed": flat, "terminating": flat}

    def __init__(
        self,
        objects: Iterable[KubernetesObject],
        *args: Any,
        manager: Manager,
        controlled: bool = True,
        **kwargs: Any,
    ) -> None:
        self.manager = manager
        self.controlled = controlled
        self.bound_phase = "Pending" if controlled else "Running"
        self.availability: AvailabilityTracker | None = None  # of a view nothing is followed
        self.changed: dict[str, None] = {}  # pods that may have moved since this was last cleared
        self.terminating: dict[str, None] = {}  # pods that are deleted, and there until a kubelet ends them
        self._wake: Timer | None = None
        self._settling = False
        listed = list(objects)
        super().__init__(listed, *args, **kwargs)
        self.terminating.update(
            (key, None) for key, pod in self.pods.items() if pod.meta.deletion_timestamp is not None
        )
        self.ask_to_settle()
        self.cluster.refresh()

    # Writes, from which availability follows

    def store_pod(self, key: str, pod: Pod) -> None:
        """Write a pod's new version."""
        look()
        if self.availability is not None:
            self.availability.pod(self.pods.get(key), pod, self.clock.now)
        if pod.meta.deletion_timestamp is not None:
            self.terminating[key] = None
        super().store_pod(key, pod)

    def remove_pod(self, key: str) -> None:
        """Remove a pod from the store."""
        if self.availability is not None:
            self.availability.pod(self.pods[key], None, self.clock.now)
        self.terminating.pop(key, None)
        super().remove_pod(key)

    def create_pod(self, pod: Pod) -> None:
        """Create a pod."""
        self._write_pod("create", pod)
        super().create_pod(pod)

    def _write_pod(self, action: Action, pod: Pod) -> None:
        """Have the control plane store a pod, unless it is its own version."""
        if self.controlled and self.manager.objects.get(("Pod", pod.meta.key)) is not pod:
            self.observe(action, pod)

    def put_object(self, obj: KubernetesObject) -> None:
        """Create or replace an object other than a pod or a PodGroup."""
        if self.availability is not None:
            self.availability.put(obj, self.clock.now)
        super().put_object(obj)

    def delete_object(self, kind: str, key: str) -> None:
        """Delete an object other than a pod; a node's pods stay until they are deleted separately."""
        known = self.manager.objects.get((kind, key))
        if known is not None:
            self.observe("delete", known)
        if self.availability is not None:
            self.availability.delete(kind, key, self.clock.now)
        super().delete_object(kind, key)

    # Changes by the scheduler and by operations

    def observe(self, action: Any, obj: KubernetesObject) -> KubernetesObject:
        """Notify the controllers of a change that is not theirs; return the object as they store it."""
        if not self.controlled:
            return obj
        kept = self.manager.observe(action, obj, self.clock.now)
        self.ask_to_settle()
        return kept

    def create_binding(self, key: str, node: str) -> str:
        """Bind a pod unless it is being deleted; return why that fails, "" on success."""
        return self.manager.refuses(key) or super().create_binding(key, node)

    def evict(self, key: str, plugin: str) -> str:
        """Delete a pod for a preemptor; return why that fails, "" on success."""
        self._by = "scheduler"
        try:
            return super().evict(key, plugin)
        finally:
            self._by = "user"

    def delete_pod(self, key: str) -> None:
        """Delete a pod; one that has time left is marked as being deleted."""
        if key not in self.pods:
            return
        left = self.manager.delete(key, self._by, self.clock.now)
        self.ask_to_settle()
        if left is None:
            super().delete_pod(key)
        else:
            self.change_pod(left)

    def _bind(self, pod: QueuedPod, statuses: Statuses) -> bool:
        bound = super()._bind(pod, statuses)
        if bound:
            self.observe("update", self.pods[pod.key])
        return bound

    def claims_bound(self, keys: Iterable[str]) -> None:
        """Notify the volume controller which volumes the scheduler bound to a pod's claims."""
        for key in keys:
            self.observe("update", self.cluster.storage.claims[key])

    def _pod_changed(self, key: str) -> None:
        self.changed[key] = None
        super()._pod_changed(key)

    def _unreserve(self, pod: QueuedPod) -> None:
        self.changed[pod.key] = None
        super()._unreserve(pod)

    # Changes by controllers

    def ask_to_settle(self) -> None:
        """Schedule a sync of the controllers for their next turn."""
        if self.controlled and not self._settling:
            self._settling = True
            self.later(self._settle)

    def _settle(self) -> None:
        self._settling = False
        self.follow(self.manager.settle(self.manager.moment(self.clock.now)))
        at = self.manager.next_time()
        if self._wake is not None and self._wake.at != at:
            self._wake.cancel()
        if at is not None and (self._wake is None or not self._wake.alive):
            self._wake = self.clock.schedule(at, self.ask_to_settle, CONTROLLERS)

    def follow(self, changes: Iterable[Change]) -> None:
        """Apply what controllers and kubelets have changed."""
        for change in changes:
            self._take(change)

    @property
    def expects(self) -> bool:
        """Return whether a controller waits for an event: the end of a pod, a node failure, an eviction."""
        return self._wake is not None and self._wake.alive

    def _take(self, change: Change) -> None:
        action, obj, reason, message = change
        key = obj.meta.key
        if isinstance(obj, Pod):
            if action == "delete":
                if reason:
                    self.record_event(reason, key, removal_message(reason))
                Framework.delete_pod(self, key)
            elif action == "create":
                self.record_event(reason, key, f"Created pod: {obj.meta.name}")
                self.create_pod(obj)
            else:
                self.change_pod(obj, reason, message)
        elif isinstance(obj, PodGroup):
            self.put_group(obj)
        elif action == "delete":
            self.record_event(reason, key, f"{_kind(obj)} {key} deleted")
            self.delete_object(_kind(obj), key)
        else:
            if reason in NOTEWORTHY:
                words = NOTEWORTHY[reason].format(kind=_kind(obj), key=key, message=message)
                self.record_event(reason, key, words)
            self.put_object(obj)

    def change_pod(self, pod: Pod, reason: str = "", message: str = "") -> None:
        """Store a new version of a pod: its phase, its readiness, or a user's update."""
        key = pod.meta.key
        previous = self.pods.get(key)
        if previous is None:
            return
        self.store_pod(key, pod)
        if pod.terminal and not previous.terminal:
            self.record_event(reason or pod.phase, key, message or f"phase {pod.phase}")
            self.leave(key, bound=bool(pod.node_name))
            return
        state = self.cluster.pods.get(key)
        if state is not None and key not in self.binding:
            if previous.meta.deletion_timestamp == pod.meta.deletion_timestamp:
                self.cluster.own(state).pod = pod
            else:
                self.cluster.put(pod)
        if reason and (message or (previous.phase, previous.ready) != (pod.phase, pod.ready)):
            words = message or f"phase {pod.phase}" + ("" if pod.ready else ", not ready")
            self.record_event(reason, key, words)
        self.later(partial(self._pod_changed, key))

    def update_pod(self, pod: Pod) -> None:
        """Replace a pod by a user's update; a terminal one is stored by :meth:`change_pod`."""
        key = pod.meta.key
        self._write_pod("update", pod)
        if pod.terminal:
            self.change_pod(pod)
            return
        previous = self.pods[key]
        self.store_pod(key, pod)
        if not pod.node_name and key in self.binding:
            # the scheduler continues with the pod that it assumed; plugins read the informers' version
            self.later(partial(self._pod_changed, key))
            return
        known = self.cluster.pods.get(key)
        state = self.cluster.put(pod)
        assert state is not None
        if not pod.node_name:
            state.nominated = state.nominated or (known.nominated if known is not None else "")
            self._queue_again(state, opened=bool(previous.scheduling_gates and not pod.scheduling_gates))
            self.later(partial(self._pod_changed, key))
        elif not previous.node_name:  # bound by an operation
            self.queue.remove(key)
            assumed = self.give_up(key, "bound by another")
            self.later(partial(self._heard_of_bound, state))
            if assumed and self.release.forget_wakes:
                self.later(partial(self.move, "AssignedPodDelete"))
        else:
            self.later(partial(self._heard_of_change, state))

    def bind_beside(self, placements: Iterable[tuple[str, str]]) -> None:
        """Bind pods for a custom scheduler, all at once; this scheduler is notified in later turns.

        Raises:
            ValueError: A node does not exist, or the API rejects a binding.
        """
        for key, node in placements:
            refused = self.create_binding(key, node) if node in self.cluster.nodes else f"no node {node}"
            if refused:
                raise ValueError(f"{key} cannot be bound to {node}: {refused}")
            state = self.cluster.put(self.pods[key])
            assert state is not None
            self.changed[key] = None
            self.later(partial(self._bound_beside, state))

    def patch_groups(self, statuses: Iterable[tuple[str, PodGroupStatus]]) -> None:
        """Store the PodGroup statuses of a custom scheduler; one that is stored already is no change."""
        for key, status in statuses:
            group = self.groups.get(key)
            if group is not None and group.status != status:
                self.patch_group(key, status)

    def _bound_beside(self, state: PodState) -> None:
        key, node = state.key, state.node_name
        self.record_event("Scheduled", key, f"Successfully assigned {key} to {node}")
        self.observe("update", self.pods[key])
        self._heard_of_bound(state)

    def _queue_again(self, state: PodState, *, opened: bool) -> None:
        """Update a pending pod in the queue; add or remove it if its scheduler has changed."""
        if not self.responsible(state.pod):
            self.queue.remove(state.key)
        elif state.key not in self.queue.pods:
            self.enqueue(state)
        else:
            self.queue.update(state)
            if opened:
                self.queue.open_gates(state)

    def _heard_of_change(self, state: PodState) -> None:
        self.queue.move_matching(state, "AssignedPodUpdate")
        self._pod_changed(state.key)

    def delete_group(self, key: str) -> None:
        """Delete a PodGroup."""
        if self.groups.pop(key, None) is not None:
            self.later(partial(self._heard_of_group_end, key))

    def _heard_of_group_end(self, key: str) -> None:
        for plugin in self.plugins:
            plugin.group_changed(key)

    def put_group(self, group: PodGroup) -> None:
        """Create or replace a PodGroup; set a missing creation time, because the queue sorts by it."""
        if group.meta.creation_timestamp is None:
            stamp = timestamp(self.manager.options, self.clock.now)
            group = replace(group, meta=replace(group.meta, creation_timestamp=stamp))
        super().put_group(group)


NOTEWORTHY: Mapping[str, str] = {
    "NodeNotReady": "{kind} {key} is not ready",
    "NodeReady": "{kind} {key} is ready again",
    "TaintsChanged": "taints of {kind} {key} changed",
    "Drained": "{kind} {key} is drained: {message}",
    "DrainFailed": "{kind} {key} is not drained: {message}",
    "RollbackFailed": "{kind} {key} is not rolled back: {message}",
    "DescheduleFailed": "nothing is descheduled: {message}",
    "ProvisioningSucceeded": "{kind} {key} was provisioned",
    "ProgressDeadlineExceeded": "{kind} {key} exceeded its progress deadline: {message}",
    "Completed": "{kind} {key} is complete",
    "BackoffLimitExceeded": "{kind} {key} failed",
}
"""Changes of other objects that are recorded as events, with their wording."""


def _kind(obj: KubernetesObject) -> str:
    return getattr(obj, "kind", None) or type(obj).__name__
