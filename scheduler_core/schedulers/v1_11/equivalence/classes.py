"""Equivalence classes of pods: both options of the proposal, the hash of a class, and differing fields.

These are the classes of the equivalence cache, as the proposal and v1.8 to v1.12 define them. They are not
:func:`scheduler_core.schedulers.columns.podinfo.class_key`, by which the engine itself shares compiled
pods and their vectors: that key contains everything that any rule reads and is exact by construction, while a
class of the cache is an assumption that may be wrong. Here pods of one controller are one class even if its
template has changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from msgspec import Struct

from scheduler_core.kubernetes.model import Pod
from scheduler_core.schedulers.columns.reads import CLASS_FIELDS, POD_FIELDS
from scheduler_core.schedulers.v1_11.policy.declared_fields import declared_fields

Definition = Literal["controller", "attributes"]

HASH_BYTES = 8
CLASSES_KEPT = 10_000  # beyond this many, the oldest class without members is forgotten


def _controller(pod: Pod) -> Any:
    owner = pod.meta.controller
    # without uids in the manifest they are empty, so kind, namespace and name distinguish the controllers
    return None if owner is None else [owner.kind, pod.meta.namespace, owner.name, owner.uid]


def _claims(pod: Pod) -> Any:
    return sorted({volume.claim for volume in pod.volumes if volume.claim is not None})


BY_CONTROLLER: Mapping[str, Callable[[Pod], Any]] = {"controller": _controller, "claims": _claims}
"""Option 2 and v1.9's EquivalencePodGenerator: the ControllerRef and the set of claims.

v1.9 takes the claims' uids; here it is their names, because a dump need not have uids. A claim that is
deleted and recreated under the same name therefore keeps the class, and the invalidation table must clear its
entries.
"""

BY_ATTRIBUTES: Mapping[str, Callable[[Pod], Any]] = {
    "namespace": lambda pod: pod.meta.namespace,
    "labels": lambda pod: pod.meta.labels,
    "affinity": lambda pod: pod.affinity,
    "containers": lambda pod: pod.containers,
    "initContainers": lambda pod: pod.init_containers,
    "nodeName": lambda pod: pod.node_name,
    "nodeSelector": lambda pod: pod.node_selector,
    "tolerations": lambda pod: pod.tolerations,
    "volumes": lambda pod: pod.volumes,
}
"""Option 1, as v1.10 to v1.12's equivalencePod lists it (core/equivalence_cache.go, getEquivalenceHash).

As there, order counts within lists, while maps are compared without order. Of a container only the fields
that the scheduler reads are known, plus its name and image.
"""


def fields_of(definition: Definition, *, split: bool = False) -> Mapping[str, Callable[[Pod], Any]]:
    """Return the fields that define a class: each name with its reader, in the order of reported differences.

    ``split`` adds the attributes to a class by controller, so that pods of one controller with two
    templates are two classes, and adds to either definition the further fields that rules declare. Mode
    ``sound`` needs this: no event reports that two members differ.
    """
    if not split:
        return BY_ATTRIBUTES if definition == "attributes" else BY_CONTROLLER
    declared = {name: POD_FIELDS[name].read for name in declared_fields() if name not in CLASS_FIELDS}
    by_controller = {} if definition == "attributes" else BY_CONTROLLER
    return {**by_controller, **BY_ATTRIBUTES, **declared}


def canonical(value: Any) -> Any:
    """Convert a part of a pod to JSON types; equal parts become equal regardless of the order of maps."""
    if isinstance(value, Struct):
        unhashed = getattr(value, "UNHASHED", ())
        names = (name for name in value.__struct_fields__ if name not in unhashed)
        return {name: canonical(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): canonical(found) for key, found in value.items()}
    if isinstance(value, tuple | list):
        return [canonical(found) for found in value]
    return value


def equivalence_hash(pod: Pod, definition: Definition = "controller", *, split: bool = False) -> int | None:
    """Return the key of a pod's class, a uint64 equal on every machine; ``None`` for a pod without a class.

    By controller a pod needs an owner with ``controller: true`` (proposal, section 2.3); by attributes
    every pod has a class.
    """
    return _hash(pod, definition, fields_of(definition, split=split))


def _hash(pod: Pod, definition: Definition, readers: Mapping[str, Callable[[Pod], Any]]) -> int | None:
    from hashlib import blake2b

    if definition == "controller" and pod.meta.controller is None:
        return None
    values = {name: canonical(read(pod)) for name, read in readers.items()}
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return int.from_bytes(blake2b(text.encode(), digest_size=HASH_BYTES).digest(), "big")


def difference(first: Pod, second: Pod, definition: Definition, *, split: bool = False) -> tuple[str, ...]:
    """Return the fields in which two pods differ; empty if they are equivalent.

    By controller, two pods without one are not equivalent, and the field is ``controller``.
    """
    if definition == "controller" and first.meta.controller is None and second.meta.controller is None:
        return ("controller",)
    readers = fields_of(definition, split=split)
    return tuple(name for name, read in readers.items() if canonical(read(first)) != canonical(read(second)))


@dataclass(slots=True, eq=False)
class EquivalenceClass:
    """A known class: its key, its display name, and its current members.

    ``first`` is the pod that the class was created for, even after that pod's deletion.
    """

    hash: int
    name: str
    first: Pod
    members: dict[str, None] = field(default_factory=dict)  # pod keys, in order of arrival


class Classes:
    """All classes of a run under one definition, and the class of every pod."""

    def __init__(
        self, definition: Definition = "controller", *, split: bool = False, limit: int = CLASSES_KEPT
    ) -> None:
        self.definition = definition
        self.split = split
        self._readers = fields_of(definition, split=split)
        self.limit = limit
        self._patience = limit
        self._classes: dict[int, EquivalenceClass] = {}  # in order of first appearance
        self._of_pod: dict[str, int] = {}
        self._templates: dict[str, int] = {}  # number of classes that a controller, by name, was split into

    def __len__(self) -> int:
        return len(self._classes)

    def __iter__(self) -> Iterator[EquivalenceClass]:
        return iter(self._classes.values())

    def of(self, pod: Pod) -> EquivalenceClass | None:
        """Return a pod's class and add the pod to it, removing the pod from its previous class."""
        key, number = pod.meta.key, _hash(pod, self.definition, self._readers)
        if self._of_pod.get(key) != number:
            self.forget(key)
        if number is None:
            return None
        known = self._classes.get(number)
        if known is None:
            known = self._classes[number] = EquivalenceClass(number, self._name(pod), pod)
            self._bound()
        known.members[key] = None
        self._of_pod[key] = number
        return known

    def get(self, number: int) -> EquivalenceClass | None:
        """Return the class of a hash, ``None`` if none is known."""
        return self._classes.get(number)

    def forget(self, key: str) -> None:
        """Remove a deleted pod from its class; the class stays because its entries are still cached."""
        number = self._of_pod.pop(key, None)
        if number is not None:
            self._classes[number].members.pop(key, None)

    def _name(self, pod: Pod) -> str:
        owner = pod.meta.controller
        if self.definition == "attributes" or owner is None:
            return f"attributes of {pod.meta.key}"
        name = f"{owner.kind} {pod.meta.namespace}/{owner.name}"
        claims = _claims(pod)
        if claims:
            name += f" with {', '.join(claims)}"
        if self.split:
            count = self._templates[name] = self._templates.get(name, 0) + 1
            name += f", template {count}" if count > 1 else ""
        return name

    def _bound(self) -> None:
        """Forget classes without members beyond the limit, the oldest first; checked only occasionally."""
        if len(self._classes) <= self._patience:
            return
        newest = next(reversed(self._classes))
        empty = [n for n, known in self._classes.items() if not known.members and n != newest]
        for number in empty[: len(self._classes) - self.limit]:
            del self._classes[number]
        self._patience = max(self.limit, len(self._classes) + self.limit // 2)
