"""Names of what controllers create: at the start those with which the bundle was shown."""

from __future__ import annotations

from collections import Counter
from typing import Any

from scheduler_core.cluster.controllers.daemon_admission import daemon_node
from scheduler_core.cluster.controllers.workloads import INDEX
from scheduler_core.cluster.v1_37.daemon_nodes import target_of
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    controller_of,
    key_of,
    name_of,
    namespace_of,
)
from scheduler_core.formats.decode import short_hash
from scheduler_core.kubernetes.admission import uid_for
from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.model import KubernetesObject, Pod

Place = tuple[str, str, str, str]
"""The namespace, kind and name of an owner, and the completion index or the node that an object is for."""


class Names:
    """Names by owner and place, handed out once; afterwards they are made up as ``generateName`` does."""

    def __init__(self) -> None:
        self._expected: dict[Place, list[str]] = {}
        self._made: Counter[tuple[str, str, str]] = Counter()
        self._lives: Counter[Key] = Counter()

    def __deepcopy__(self, memo: dict[int, Any]) -> Names:
        made = memo[id(self)] = Names()
        made._expected = {place: list(names) for place, names in self._expected.items()}
        made._made, made._lives = Counter(self._made), Counter(self._lives)
        return made

    def expect(self, obj: KubernetesObject) -> None:
        """Note an object that its controller is going to create."""
        owner = obj.meta.controller
        assert owner is not None
        special = ""
        if isinstance(obj, Pod) and owner.kind == "Job":
            special = obj.meta.annotations.get(INDEX, "")
        elif isinstance(obj, Pod) and owner.kind == "DaemonSet":
            special = daemon_node(obj)
        place = obj.meta.namespace, owner.kind, owner.name, special
        self._expected.setdefault(place, []).append(obj.meta.name)

    def uid(self, obj: Manifest) -> str:
        """Return the uid of a new object, which the bundle was shown with: it follows from kind and name."""
        kind, name, key = obj["kind"], name_of(obj), (obj["kind"], key_of(obj))
        lives = self._lives[key]
        self._lives[key] += 1
        return uid_for(kind, namespace_of(obj), f"{name}/{lives}" if lives else name)

    def name(self, obj: Manifest) -> str | None:
        """Return the name of a new object, ``None`` if it has one already."""
        owner = controller_of(obj)
        if owner is None or obj["kind"] not in ("Pod", "ReplicaSet"):
            return None
        own = namespace_of(obj), owner["kind"], owner["name"]
        names = self._expected.get((*own, _special(obj, owner["kind"])))
        if names:
            return names.pop(0)
        if obj["metadata"].get("name"):
            return None
        self._made[own] += 1
        prefix = str(obj["metadata"]["generateName"])[:58]
        return f"{prefix}{short_hash(*own, str(self._made[own]))}"


def _special(pod: Manifest, kind: str) -> str:
    if kind == "Job":
        return annotations_of(pod).get(INDEX, "")
    return target_of(pod) if kind == "DaemonSet" else ""
