"""The cluster of a lone v1.37 whose control plane deletes gracefully and binds volumes itself."""

from __future__ import annotations

from functools import partial

from scheduler_core.cluster.controllers.changes import Action, Change
from scheduler_core.kubernetes.model import Pod
from scheduler_core.run.several.control_plane import ControlPlaneManager
from scheduler_core.run.several.server import SharedCluster
from scheduler_core.schedulers.v1_22.scheduler import Framework


class LivingServer(SharedCluster):
    """Sends what users and the scheduler write to the control plane.

    A bound pod that is deleted stays, and counts on its node, until its kubelet has ended it.
    """

    manager: ControlPlaneManager
    _by = "user"

    def create_pod(self, pod: Pod) -> None:
        """Create a pod."""
        self._tell("create", pod)
        super().create_pod(pod)

    def update_pod(self, pod: Pod) -> None:
        """Replace a pod by a user's update."""
        self._tell("update", pod)
        super().update_pod(pod)

    def delete_object(self, kind: str, key: str) -> None:
        """Delete an object other than a pod."""
        known = self.manager.store.objects.get((kind, key))
        if known is not None:
            self.observe("delete", known)
        super().delete_object(kind, key)

    def _tell(self, action: Action, pod: Pod) -> None:
        """Have the control plane store a pod, unless it is its own version."""
        if self.manager.store.objects.get(("Pod", pod.meta.key)) is not pod:
            self.observe(action, pod)

    def _take(self, change: Change) -> None:
        pod, previous = change.object, self.pods.get(change.object.meta.key)
        if not isinstance(pod, Pod) or change.action != "update" or previous is None:
            super()._take(change)
            return
        if pod.node_name and not previous.node_name and not pod.terminal:
            self._bound(pod)
            return
        super()._take(change)
        state = self.cluster.pods.get(pod.meta.key)
        if state is not None and not state.node_name:
            state.nominated = pod.nominated_node_name

    def _bound(self, pod: Pod) -> None:
        """Follow a binding; a pod of a node that is gone counts nowhere until it is collected."""
        key = pod.meta.key
        self.store_pod(key, pod)
        self.record_event("Scheduled", key, f"Successfully assigned {key} to {pod.node_name}")
        state = self.cluster.put(pod) if pod.node_name in self.cluster.nodes else None
        self.changed[key] = None
        if state is not None:
            self.later(partial(self._heard_of_bound, state))
        self._send_pod(key)

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
        left = self.manager.delete(key, self._by, self.clock.now) if self.controlled else None
        self.ask_to_settle()
        if left is not None:
            self.change_pod(left)
            return
        Framework.delete_pod(self, key)
        self._send_pod(key)

    def bind_claim(self, key: str, volume: str, node: str) -> str:
        """Bind a claim to a volume, or have one provisioned; return why that fails, "" on success."""
        claim = self.cluster.storage.claims.get(key)
        if volume or claim is None or claim.volume_name:
            return super().bind_claim(key, volume, node)
        self.manager.provision(key, node, self.clock.now)
        self.ask_to_settle()
        return ""
