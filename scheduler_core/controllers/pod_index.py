"""Pods by node, daemon pods by their target node, orphans by label, and pods by claim."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar

from scheduler_core.controllers.branching import Branching
from scheduler_core.controllers.daemon_admission import daemon_node
from scheduler_core.controllers.owned import controller_of, key_in
from scheduler_core.objects.keys import Key
from scheduler_core.objects.model import Pod

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


class PodNameIndex(Branching):
    """Names of pods as ``namespace/name``. ``since`` is when a pod entered its phase or started its run."""

    def __init__(self) -> None:
        self.since: dict[str, float] = {}
        self.bound_since: dict[str, float] = {}
        self.finished: PodNames = {}  # terminal pods, the first to terminate first
        self.on: dict[str, PodNames] = {}
        self.daemons: dict[tuple[Key, str], PodNames] = {}
        self.orphans: dict[tuple[str, str, str], PodNames] = {}  # namespace, label, value
        self.users: dict[str, PodNames] = {}  # of a claim

    def put(self, name: str, old: Pod | None, pod: Pod, now: float) -> None:
        """Add or update a pod."""
        if old is None:
            self._link(name, pod)
            self.since[name] = now
            if pod.node_name:
                self.bound_since[name] = now
            if pod.terminal:
                self.finished[name] = None
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
        elif pod.ready and not old.ready and pod.restarts:
            self.since[name] = now

    def remove(self, name: str, pod: Pod) -> None:
        """Remove a pod."""
        self._unlink(name, pod)
        self.since.pop(name, None)
        self.bound_since.pop(name, None)
        self.finished.pop(name, None)

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
