"""PodGroups and their members: the group that a pod names, and its siblings.

Every dialect of the PodGroup (classic, current, kube-batch's, Volcano's, the native one) is parsed into the
same object, and every way for a pod to name its group into the same ``Pod.pod_group``: see
:mod:`scheduler_core.kubernetes.fields_pod`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from scheduler_core.kubernetes.model import Pod, PodGroup


def group_key(pod: Pod) -> str:
    """Return ``namespace/group``, with the pod's own namespace; "" if the pod names no group."""
    return f"{pod.meta.namespace}/{pod.pod_group}" if pod.pod_group else ""


class Gangs(Struct):
    """The existing groups and the pods that name them, by group key; the caller keeps them up to date.

    ``pods`` holds the pods that the scheduler watches, which excludes Succeeded and Failed pods.
    """

    groups: dict[str, PodGroup] = field(default_factory=dict)
    pods: dict[str, dict[str, Pod]] = field(default_factory=dict)  # group key -> pod key -> pod
    _group_of: dict[str, str] = field(default_factory=dict)  # pod key -> group key

    @classmethod
    def of(cls, objects: Iterable[object]) -> Gangs:
        """Collect groups and pods from any objects."""
        gangs = cls()
        for obj in objects:
            gangs.put(obj)
        return gangs

    def put(self, obj: object) -> None:
        """Add a group or a pod, replacing the one with the same key; ignore anything else."""
        if isinstance(obj, PodGroup):
            self.groups[obj.meta.key] = obj
        elif isinstance(obj, Pod):
            self.remove_pod(obj.meta.key)
            if obj.pod_group and not obj.terminal:
                group = self._group_of[obj.meta.key] = group_key(obj)
                self.pods.setdefault(group, {})[obj.meta.key] = obj

    def remove_pod(self, key: str) -> None:
        """Remove a deleted pod."""
        group = self._group_of.pop(key, None)
        if group is not None:
            del self.pods[group][key]
            if not self.pods[group]:
                del self.pods[group]

    def pod(self, key: str) -> Pod | None:
        """Return a member by its key."""
        return self.pods.get(self._group_of.get(key, ""), {}).get(key)

    def of_pod(self, pod: Pod) -> tuple[str, PodGroup | None]:
        """Return the key of a pod's group, and the group or ``None`` if it does not exist."""
        key = group_key(pod)
        return key, self.groups.get(key)

    def members(self, key: str) -> Mapping[str, Pod]:
        """Return the pods that name a group, by pod key: pending, waiting, bound and running pods."""
        return self.pods.get(key, {})

    def siblings(self, pod: Pod) -> list[str]:
        """Return the keys of the other members of a pod's group."""
        return [key for key in self.members(group_key(pod)) if key != pod.meta.key]
