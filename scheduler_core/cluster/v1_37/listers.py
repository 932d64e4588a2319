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
    uid_of,
)
from scheduler_core.forks import Copier, Forkable, flat, nested

_INDEXES = ("pods_on", "owned", "dependents", "orphans", "labelled", "namespaced")


class Listers(Forkable):
    """Objects by kind and key, listed in order of their keys."""

    FORKED: ClassVar[Mapping[str, Copier]] = {
        **dict.fromkeys(("objects", "_places", *_INDEXES), nested),
        "_listed": flat,
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
        self._places: dict[str, dict[str, str]] = {}
        """By kind and key: under which name of the server's own an object with another one is listed."""

    def get(self, kind: str, key: str) -> Manifest | None:
        """Return an object, ``None`` if there is none."""
        found = self.objects.get(kind)
        return None if found is None else found.get(key)

    def referenced(self, obj: Manifest, reference: Mapping[str, Any]) -> Manifest | None:
        """Return what an owner reference of an object is about, ``None`` if it is gone."""
        kind = reference["kind"]
        found = self.get(kind, key_in(kind, obj["metadata"].get("namespace"), reference["name"]))
        return found if found is not None and found["metadata"]["uid"] == reference["uid"] else None

    def of_kind(self, kind: str) -> Iterator[Manifest]:
        """Yield the objects of a kind in order of their keys."""
        found = self.objects.get(kind, {})
        return (found[key] for key in self.in_order(kind, found))

    def in_order(self, kind: str, keys: Iterable[str]) -> list[str]:
        """Return keys of a kind as listers have them."""
        places = self._places.get(kind)
        return sorted(keys, key=lambda key: places.get(key, key)) if places else sorted(keys)

    def place(self, kind: str, key: str) -> str:
        """Return the key by which an object is listed."""
        return self._places.get(kind, {}).get(key, key)

    def in_namespace(self, kind: str, namespace: str) -> Iterator[Manifest]:
        """Yield the objects of a kind in one namespace, in order of their keys."""
        keys = self.namespaced.get((kind, namespace))
        if not keys:
            return iter(())
        found = self.objects[kind]
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
        item = obj["kind"], key
        controller = controller_of(obj)
        if controller is not None:
            self.owned.setdefault(controller["uid"], {})[item] = None
            self._listed.pop((controller["uid"], item[0]), None)
        for owner in owners_of(obj):
            self.dependents.setdefault(owner["uid"], {})[item] = None

    def _rows(self, obj: Manifest) -> Iterator[tuple[dict[Any, dict[str, None]], Any]]:
        kind, namespace = obj["kind"], namespace_of(obj)
        yield self.namespaced, (kind, namespace)
        if controller_of(obj) is None:
            yield self.orphans, (kind, namespace)
        if kind == "Pod":
            for name, value in labels_of(obj).items():
                yield self.labelled, (namespace, name, value)
            if node := node_of(obj):
                yield self.pods_on, node

    def unindex(self, obj: Manifest) -> None:
        """Take an object out of the indexes."""
        key = key_of(obj)
        for row, place in self._rows(obj):
            row.get(place, {}).pop(key, None)
        item = obj["kind"], key
        controller = controller_of(obj)
        if controller is not None:
            self.owned.get(controller["uid"], {}).pop(item, None)
            self._listed.pop((controller["uid"], item[0]), None)
        for owner in owners_of(obj):
            self.dependents.get(owner["uid"], {}).pop(item, None)

    def index_again(self, old: Manifest, new: Manifest, key: str) -> None:
        """Follow a new version of an object: mostly it has another status, or a node."""
        if not _is_listed_alike(old["metadata"], new["metadata"]):
            self.unindex(old)
            self.index(new)
        elif old.get("spec") is not new.get("spec") and (before := node_of(old)) != (after := node_of(new)):
            if before:
                self.pods_on.get(before, {}).pop(key, None)
            if after:
                self.pods_on.setdefault(after, {})[key] = None


def _is_listed_alike(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether two versions of an object's metadata are in the same places of all indexes."""
    for name in ("labels", "ownerReferences"):
        one, other = before.get(name), after.get(name)
        if one is not other and (one or None) != (other or None):
            return False
    return True
