"""What the API server stores, and the indexes by which it is listed: owner, node, label, namespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    controller_of,
    key_in,
    key_of,
    labels_of,
    namespace_of,
    node_of,
    owners_of,
    selects,
    spec_of,
    uid_of,
)
from scheduler_core.forks import Copier, Forkable, flat, nested

_INDEXES = ("pods_on", "owned", "dependents", "orphans", "labelled", "namespaced")


class Listers(Forkable):
    """Objects by kind and key, listed in order of their keys."""

    FORKED: ClassVar[Mapping[str, Copier]] = {
        **dict.fromkeys(("objects", *_INDEXES), nested),
        "_listed": flat,
        "_places": flat,
    }

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Manifest]] = {}
        self.pods_on: dict[str, dict[str, None]] = {}
        """Keys of pods by node."""
        self.owned: dict[str, dict[tuple[str, str], None]] = {}
        """Kinds and keys of objects by the uid of their controller."""
        self._listed: dict[tuple[str, str], list[str]] = {}
        """The keys in ``owned`` by uid and kind, sorted, of those that were asked for."""
        self.dependents: dict[str, dict[tuple[str, str], None]] = {}
        """The same by the uid of any owner."""
        self.orphans: dict[tuple[str, str], dict[str, None]] = {}
        """Keys of objects without controller, by kind and namespace."""
        self.labelled: dict[tuple[str, str, str], dict[str, None]] = {}
        """Keys of pods by namespace, and label with its value."""
        self.namespaced: dict[tuple[str, str], dict[str, None]] = {}
        """Keys of all other objects by kind and namespace."""
        self._places: dict[tuple[str, str], str] = {}
        """In whose place an object with another name is listed: under the name that the server would give."""

    def get(self, kind: str, key: str) -> Manifest | None:
        """Return an object, ``None`` if there is none."""
        return self.objects.get(kind, {}).get(key)

    def referenced(self, obj: Manifest, reference: Mapping[str, Any]) -> Manifest | None:
        """Return what an owner reference of an object is about, ``None`` if it is gone."""
        kind = reference["kind"]
        found = self.objects.get(kind, {}).get(
            key_in(kind, obj["metadata"].get("namespace"), reference["name"])
        )
        return found if found is not None and found["metadata"]["uid"] == reference["uid"] else None

    def of_kind(self, kind: str) -> Iterator[Manifest]:
        """Yield the objects of a kind in order of their keys."""
        found = self.objects.get(kind, {})
        return (found[key] for key in self.in_order(kind, found))

    def in_order(self, kind: str, keys: Iterable[str]) -> list[str]:
        """Return keys of a kind as listers have them."""
        place = self._places.get
        return sorted(keys, key=lambda key: place((kind, key), key)) if self._places else sorted(keys)

    def place(self, kind: str, key: str) -> str:
        """Return the key by which an object is listed."""
        return self._places.get((kind, key), key)

    def in_namespace(self, kind: str, namespace: str) -> Iterator[Manifest]:
        """Yield the objects of a kind in one namespace, in order of their keys."""
        found, keys = self.objects.get(kind, {}), self.namespaced.get((kind, namespace), ())
        return (found[key] for key in self.in_order(kind, keys))

    def adoptable(self, kind: str, selector: Mapping[str, Any] | None, namespace: str) -> list[Manifest]:
        """Return the objects without controller that a label selector matches, in order of their keys."""
        free = self.orphans.get((kind, namespace))
        if not free or selector is None:
            return []
        keys = self._candidates(selector, namespace) if kind == "Pod" else free
        objects = self.objects[kind]
        found = [key for key in keys if key in free and selects(selector, labels_of(objects[key]))]
        return [objects[key] for key in self.in_order(kind, found)]

    def selected(self, selector: Mapping[str, Any] | None, namespace: str) -> list[Manifest]:
        """Return the pods of a namespace that a label selector matches, in order of their keys."""
        if selector is None:
            return []
        pods, keys = self.objects.get("Pod", {}), self._candidates(selector, namespace)
        found = [key for key in keys if selects(selector, labels_of(pods[key]))]
        return [pods[key] for key in self.in_order("Pod", found)]

    def _candidates(self, selector: Mapping[str, Any], namespace: str) -> Iterable[str]:
        wanted = selector.get("matchLabels") or {}
        rows: list[dict[str, None]] = [
            self.labelled.get((namespace, name, value), {}) for name, value in wanted.items()
        ]
        rows.sort(key=len)
        return rows[0] if rows else self.namespaced.get(("Pod", namespace), {})

    def controlled(self, owner: Manifest, kind: str) -> list[Manifest]:
        """Return the objects of a kind whose controller is ``owner``, in order of their keys."""
        return self.controlled_by(uid_of(owner), kind)

    def controlled_by(self, uid: str, kind: str) -> list[Manifest]:
        """Return the objects of a kind whose controller has this uid, likewise."""
        keys = self._listed.get((uid, kind))
        if keys is None:
            found = [key for one, key in self.owned.get(uid, ()) if one == kind]
            keys = self._listed[uid, kind] = self.in_order(kind, found)
        objects = self.objects.get(kind, {})
        return [objects[key] for key in keys]

    def pods_of_node(self, node: str) -> list[Manifest]:
        """Return the pods with this ``spec.nodeName``, in order of their keys."""
        return [self.objects["Pod"][key] for key in self.in_order("Pod", self.pods_on.get(node, ()))]

    def index(self, obj: Manifest) -> None:
        """Put an object into the indexes."""
        key = key_of(obj)
        for row, place in self._rows(obj):
            row.setdefault(place, {})[key] = None
        controller = controller_of(obj)
        if controller is not None:
            self.owned.setdefault(controller["uid"], {})[obj["kind"], key] = None
            self._listed.pop((controller["uid"], obj["kind"]), None)
        for owner in owners_of(obj):
            self.dependents.setdefault(owner["uid"], {})[obj["kind"], key_of(obj)] = None
        if obj["kind"] == "Pod" and node_of(obj):
            self.pods_on.setdefault(node_of(obj), {})[key_of(obj)] = None

    def _rows(self, obj: Manifest) -> Iterator[tuple[dict[Any, dict[str, None]], tuple[str, ...]]]:
        kind, namespace = obj["kind"], namespace_of(obj)
        yield self.namespaced, (kind, namespace)
        if controller_of(obj) is None:
            yield self.orphans, (kind, namespace)
        if kind == "Pod":
            for name, value in labels_of(obj).items():
                yield self.labelled, (namespace, name, value)

    def unindex(self, obj: Manifest) -> None:
        """Take an object out of the indexes."""
        key = key_of(obj)
        for row, place in self._rows(obj):
            row.get(place, {}).pop(key, None)
        controller = controller_of(obj)
        if controller is not None:
            self.owned.get(controller["uid"], {}).pop((obj["kind"], key), None)
            self._listed.pop((controller["uid"], obj["kind"]), None)
        for owner in owners_of(obj):
            self.dependents.get(owner["uid"], {}).pop((obj["kind"], key_of(obj)), None)
        if obj["kind"] == "Pod" and node_of(obj):
            self.pods_on.get(node_of(obj), {}).pop(key_of(obj), None)


def is_indexed_alike(old: Manifest, new: Manifest) -> bool:
    """Return whether all indexes have two versions of an object in the same places."""
    before, after = old["metadata"], new["metadata"]
    for name in ("labels", "ownerReferences"):
        one, other = before.get(name), after.get(name)
        if one is not other and (one or None) != (other or None):
            return False
    specs = spec_of(old), spec_of(new)
    return specs[0] is specs[1] or specs[0].get("nodeName") == specs[1].get("nodeName")
