"""The objects that a controller owns, counted incrementally, without iterating over all of its pods."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

from scheduler_core.cluster.controllers.branching import Branching
from scheduler_core.cluster.controllers.workloads import generated_names, index_of
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.model import KubernetesObject, OwnerReference, Pod, Workload

# Kinds whose pods have an ordinal as name; all others name them by generateName.
_ORDINALS = ("StatefulSet",)


def controller_of(obj: KubernetesObject) -> OwnerReference | None:
    """Return the owner with ``controller: true`` (metav1.GetControllerOf)."""
    for reference in obj.meta.owner_references:
        if reference.controller:
            return reference
    return None


def key_in(obj: KubernetesObject, reference: OwnerReference) -> Key:
    """Return the key of an object's owner."""
    namespace = obj.meta.namespace
    return reference.kind, f"{namespace}/{reference.name}" if namespace else reference.name


def ordinal_of(pod: Pod) -> int:
    """Return the ordinal of a StatefulSet's pod, -1 if its name ends with none."""
    text = pod.meta.name.rpartition("-")[2]
    return int(text) if text.isdecimal() and len(text) < 10 else -1


def is_active(pod: Pod) -> bool:
    """Return whether the pod counts as a replica: neither terminated nor being deleted."""
    return not pod.terminal and pod.meta.deletion_timestamp is None


@dataclass(slots=True)
class Owned(Branching):
    """The objects that one controller owns, in order of creation, and the counts of its pods by state."""

    members: dict[Key, None] = field(default_factory=dict)
    active: int = 0
    available: int = 0
    succeeded: int = 0  # in total, including pods deleted since
    failed: int = 0
    restarts: int = 0
    failed_in_a_row: int = 0
    last_failure: float = 0.0
    completed: set[int] = field(default_factory=set)  # indexes of an Indexed Job
    steady: int = 0  # a StatefulSet's pods 0 … steady-1 are available, an Indexed Job's indexes are completed
    names: list[str] = field(default_factory=list)  # generated and not yet used
    salt: int = 0  # of the first of these

    def name(self, owner: Workload, place: int) -> str:
        """Return the generated name at index ``place`` among those not yet used."""
        more = max(0, place + 1 - len(self.names))
        self.names += islice(generated_names(owner, self.salt + len(self.names)), more)
        return self.names[place]

    def use(self, name: str, owner: KubernetesObject | None) -> None:
        """Mark a name as used: it and those before it are not returned again."""
        if not self.names:
            if not isinstance(owner, Workload) or owner.kind in _ORDINALS:
                return
            self.name(owner, 0)
        if name in self.names:
            used = self.names.index(name) + 1
            self.salt += used
            del self.names[:used]

    def leave(self, pod: Pod) -> None:
        """Remove a pod from the counts: it changes, is deleted, or gets another owner."""
        self.active -= is_active(pod)
        self.available -= pod.available

    def join(self, pod: Pod) -> None:
        """Add a pod in its current state to the counts."""
        self.active += is_active(pod)
        self.available += pod.available

    def end(self, pod: Pod, now: float) -> None:
        """Count a pod that has succeeded or failed."""
        if pod.phase == "Succeeded":
            self.succeeded += 1
            self.failed_in_a_row = 0
            if (index := index_of(pod)) is not None:
                self.completed.add(index)
                while self.steady in self.completed:
                    self.steady += 1
        else:
            self.failed += 1
            self.failed_in_a_row += 1
            self.last_failure = now
