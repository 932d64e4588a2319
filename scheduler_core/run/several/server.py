"""The cluster that several schedulers share, with its controllers and kubelets: what is true.

Whatever is written here is sent to the views that watch it. A binding is checked as the API server does,
which compares no resources; with an arbiter its commit is checked against what is bound by then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, ClassVar, Protocol

from msgspec.structs import replace

from scheduler_core.cluster.controllers.changes import Change
from scheduler_core.cluster.controllers.daemon_admission import total_requests
from scheduler_core.cluster.controllers.kubelet import is_admitted, refusal
from scheduler_core.forks import Copier, flat
from scheduler_core.kubernetes.keys import kind_of
from scheduler_core.kubernetes.model import KubernetesObject, Pod, PodGroup
from scheduler_core.run.control import ControlledFramework
from scheduler_core.run.several.ledger import BindingLedger

NOBODY = "\0"  # the only schedulerName that it serves: of no pod


class WriteWatcher(Protocol):
    """A callback for every write: the kind, the key, and the object, ``None`` for a deleted one."""

    def written(self, kind: str, key: str, obj: KubernetesObject | None) -> None:
        """Handle a write, at the moment it is made."""
        ...


class SharedCluster(ControlledFramework):
    """The objects as they are stored. ``watchers`` receive every change, in order."""

    FORKED: ClassVar[Mapping[str, Copier]] = {"_sent": flat}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.watchers: list[WriteWatcher] = []
        self.ledger: BindingLedger | None = None  # of several schedulers
        self._sent: dict[tuple[str, str], KubernetesObject] = {}
        super().__init__(*args, **kwargs)

    # Writes, each of which is sent

    def create_pod(self, pod: Pod) -> None:
        """Create a pod."""
        super().create_pod(pod)
        self._send_pod(pod.meta.key)

    def delete_pod(self, key: str) -> None:
        """Delete a pod."""
        super().delete_pod(key)
        self._send_pod(key)

    def change_pod(self, pod: Pod, reason: str = "", message: str = "") -> None:
        """Store a new version of a pod."""
        key = pod.meta.key
        previous = self.pods.get(key)
        super().change_pod(pod, reason, message)
        if (
            self.ledger is not None
            and previous is not None
            and is_admitted(pod)
            and not is_admitted(previous)
        ):
            self.ledger.admitted(key)
        self._send_pod(key)

    def update_pod(self, pod: Pod) -> None:
        """Replace a pod by a user's update."""
        super().update_pod(pod)
        self._send_pod(pod.meta.key)

    def put_object(self, obj: KubernetesObject) -> None:
        """Create or replace an object other than a pod or a PodGroup."""
        super().put_object(obj)
        self._send(kind_of(obj), obj.meta.key, obj)

    def delete_object(self, kind: str, key: str) -> None:
        """Delete an object other than a pod."""
        super().delete_object(kind, key)
        self._send(kind, key, None)

    def put_group(self, group: PodGroup) -> None:
        """Create or replace a PodGroup."""
        super().put_group(group)
        self._send("PodGroup", group.meta.key, self.groups[group.meta.key])

    def delete_group(self, key: str) -> None:
        """Delete a PodGroup."""
        super().delete_group(key)
        self._send("PodGroup", key, None)

    def _take(self, change: Change) -> None:
        pod = change.object
        if not isinstance(pod, Pod):
            super()._take(change)
            return
        key = pod.meta.key
        previous = self.pods.get(key)
        if change.action != "update" or previous is None:
            super()._take(change)
            self._send_pod(key)
        elif pod.node_name and not previous.node_name and not pod.terminal:
            self._bound(key, pod)
            self._send_pod(key)
        else:
            super()._take(change)
            self._nominated(key, pod)

    def _nominated(self, key: str, pod: Pod) -> None:
        """Follow the nomination of a pod that waits."""
        state = self.cluster.pods.get(key)
        if state is not None and not state.node_name:
            self.cluster.own(state).nominated = pod.nominated_node_name

    def _bound(self, key: str, pod: Pod) -> None:
        """Follow a binding; a pod of a node that is gone counts nowhere until it is collected."""
        self.store_pod(key, pod)
        self.record_event("Scheduled", key, f"Successfully assigned {key} to {pod.node_name}")
        state = self.cluster.put(pod) if pod.node_name in self.cluster.nodes else None
        self.changed[key] = None
        if state is not None:
            self.later(partial(self._heard_of_bound, state))

    def _send_pod(self, key: str) -> None:
        self._send("Pod", key, self.pods.get(key))

    def _send(self, kind: str, key: str, obj: KubernetesObject | None) -> None:
        if not self.watchers or self._sent.get((kind, key)) is obj is not None:
            return
        if obj is None:
            self._sent.pop((kind, key), None)
            if kind == "Pod" and self.ledger is not None:
                self.ledger.deleted(key)
        else:
            self._sent[kind, key] = obj
        for watcher in self.watchers:
            watcher.written(kind, key, obj)

    def bind_claim(self, key: str, volume: str, node: str) -> str:
        """Bind a claim to a volume for a scheduler, or without one have a volume provisioned for the node.

        Return why that fails, "" on success.
        """
        storage = self.cluster.storage
        claim = storage.claims.get(key)
        if claim is None:
            return f'persistentvolumeclaims "{key.partition("/")[2]}" not found'
        if claim.volume_name:
            other = volume and claim.volume_name != volume
            return f'claim "{key}" is already bound to volume "{claim.volume_name}"' if other else ""
        if not volume:
            if self.controlled:
                self.manager.provision(key, node, self.clock.now)
                self.ask_to_settle()
                return ""
            self.provision(key, node)
            return "" if storage.claims[key].volume_name else f'no volume is provisioned for claim "{key}"'
        found = storage.volumes.get(volume)
        if found is None:
            return f'persistentvolumes "{volume}" not found'
        if found.claim_ref not in ("", key):
            return f'volume "{volume}" already bound to a different claim'
        self.put_object(self.observe("update", replace(found, claim_ref=key, phase="Bound")))
        self.put_object(self.observe("update", replace(claim, volume_name=volume)))
        return ""

    def nominate(self, key: str, node: str) -> None:
        """Write ``status.nominatedNodeName`` of a pod that waits; an empty one clears it."""
        pod = self.pods.get(key)
        if pod is None or pod.node_name or pod.terminal or pod.nominated_node_name == node:
            return
        self.update_pod(replace(pod, nominated_node_name=node))
        self.cluster.own(self.cluster.pods[key]).nominated = node
        self.observe("update", self.pods[key])

    # Bindings

    def bind(self, key: str, node: str) -> str:
        """Bind a pod for a scheduler; return why the API rejects it, "" on success."""
        refused = self.create_binding(key, node)
        if refused:
            return refused
        if node not in self.cluster.nodes:
            self._collect(key, node)
            return ""
        state = self.cluster.put(self.pods[key])
        assert state is not None
        self.changed[key] = None
        self.observe("update", self.pods[key])
        self.later(partial(self._heard_of_bound, state))
        self._send_pod(key)
        return ""

    def _collect(self, key: str, node: str) -> None:
        """Delete a pod that was bound to a node which is gone, as the pod garbage collector does."""
        self.record_event(
            "NodeNotFound", key, f"deleted by the pod garbage collector: its node {node} does not exist"
        )
        self.delete_pod(key)

    def objection(self, placements: Iterable[tuple[str, str]]) -> str:
        """Return why an arbiter rejects these bindings together, "" if it does not.

        It checks what the kubelet will check, on the pods that are bound by now and have not ended:
        resources, node affinity and host ports. Affinity between pods and spreading are not checked.
        """
        taken: dict[str, list[Pod]] = {}
        for key, name in placements:
            pod, node = self.pods.get(key), self.cluster.nodes.get(name)
            if pod is None or pod.node_name:
                continue  # for the API server to reject
            if node is None:
                return f"arbiter: there is no node {name}"
            there = taken.setdefault(name, self.bound_to(name))
            used = {"pods": len(there)}
            for one in there:
                for resource, amount in total_requests(one).items():
                    used[resource] = used.get(resource, 0) + amount
            if refused := refusal(pod, node, used, lambda there=there: there):  # type: ignore[misc]
                return f"arbiter: {key} on {name}: {refused.message}"
            there.append(pod)
        return ""

    def bound_to(self, node: str) -> list[Pod]:
        """Return the pods that are bound to a node and have not terminated."""
        row = self.cluster.columns.index.get(node)
        return [] if row is None else [state.pod for state in self.cluster.residents[row].values()]
