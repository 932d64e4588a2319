"""Pods by node, daemon pods by their target node, orphans by label, and pods by claim."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

from scheduler_core.cluster.controllers.branching import Branching
from scheduler_core.cluster.controllers.daemon_admission import daemon_node
from scheduler_core.cluster.controllers.kubelet import is_admitted
from scheduler_core.cluster.controllers.owned import controller_of, key_in
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.model import Pod

Group = TypeVar("Group", bound=Hashable)
PodNames = dict[str, None]


def discard(
    groups: dict[Group, dict[Key, None]] | dict[Group, PodNames], group: Group, member: Key | str
) -> None:
    """Remove a member from its group, and the group with its last member."""
    found = groups.get(group)
    if found is not None:
        found.pop(member, None)  # type: ignore[arg-type]
        if not found:
            del groups[group]


def _uses_alike(one: Pod, other: Pod) -> bool:
    return one.containers is other.containers and one.node_name == other.node_name


class PodNameIndex(Branching):
    """Names of pods as ``namespace/name``. ``since`` is when a pod entered its phase or started its run;
    ``used`` is what the pods that kubelets have admitted request, by node, with their number as ``pods``.
    """

    def __init__(self) -> None:
        self.since: dict[str, float] = {}
        self.bound_since: dict[str, float] = {}
        self.finished: PodNames = {}  # terminal pods, the first to terminate first
        self.refused: PodNames = {}  # those of them that no kubelet had admitted
        self.on: dict[str, PodNames] = {}
        self.daemons: dict[tuple[Key, str], PodNames] = {}
        self.orphans: dict[tuple[str, str, str], PodNames] = {}  # namespace, label, value
        self.users: dict[str, PodNames] = {}  # of a claim
        self.used: dict[str, dict[str, int]] = {}

    def put(self, name: str, old: Pod | None, pod: Pod, now: float) -> None:
        """Add or update a pod."""
        self._use(old, pod)
        if old is None:
            self._link(name, pod)
            self.since[name] = now
            if pod.node_name:
                self.bound_since[name] = now
            if pod.terminal:
                self.finished[name] = self.refused[name] = None
            return
        bound = old.node_name != pod.node_name
        if bound or old.meta is not pod.meta or old.volumes is not pod.volumes:
            self._unlink(name, old)
            self._link(name, pod)
        if bound and pod.node_name:
            self.bound_since[name] = now
        if bound or old.phase != pod.phase or old.restarts != pod.restarts:
            self.since[name] = now
            if pod.terminal:
                self.finished[name] = None
                if not is_admitted(old):
                    self.refused[name] = None
        elif pod.ready and not old.ready and pod.restarts:
            self.since[name] = now

    def remove(self, name: str, pod: Pod) -> None:
        """Remove a pod."""
        self._use(pod, None)
        self._unlink(name, pod)
        self.since.pop(name, None)
        self.bound_since.pop(name, None)
        self.finished.pop(name, None)
        self.refused.pop(name, None)

    def _use(self, old: Pod | None, pod: Pod | None) -> None:
        """Count what a pod requests of its node from when the kubelet admits it until it terminates."""
        before = old if old is not None and is_admitted(old) else None
        after = pod if pod is not None and is_admitted(pod) else None
        if before is after or (before is not None and after is not None and _uses_alike(before, after)):
            return
        for one, sign in ((before, -1), (after, 1)):
            if one is None:
                continue
            used = self.used.setdefault(one.node_name, {})
            used["pods"] = used.get("pods", 0) + sign
            for container in one.containers:
                for name, amount in container.requests.items():
                    used[name] = used.get(name, 0) + sign * amount

    def _link(self, name: str, pod: Pod) -> None:
        meta = pod.meta
        if pod.node_name:
            self.on.setdefault(pod.node_name, {})[name] = None
        if not meta.owner_references:
            for label in meta.labels.items():
                self.orphans.setdefault((meta.namespace, *label), {})[name] = None
        owner = controller_of(pod)
        if owner is not None and owner.kind == "DaemonSet":
            self.daemons.setdefault((key_in(pod, owner), daemon_node(pod)), {})[name] = None
        for volume in pod.volumes:
            if volume.claim is not None:
                self.users.setdefault(f"{meta.namespace}/{volume.claim}", {})[name] = None

    def _unlink(self, name: str, pod: Pod) -> None:
        meta = pod.meta
        if pod.node_name:
            discard(self.on, pod.node_name, name)
        if not meta.owner_references:
            for label in meta.labels.items():
                discard(self.orphans, (meta.namespace, *label), name)
        owner = controller_of(pod)
        if owner is not None and owner.kind == "DaemonSet":
            discard(self.daemons, (key_in(pod, owner), daemon_node(pod)), name)
        for volume in pod.volumes:
            if volume.claim is not None:
                discard(self.users, f"{meta.namespace}/{volume.claim}", name)
