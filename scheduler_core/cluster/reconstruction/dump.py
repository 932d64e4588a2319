"""The objects of a dump while what it lacks is put back, with a note about each thing that is assumed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.cluster.reconstruction.abridgement import MADE_AT, assumed_uid, filled
from scheduler_core.cluster.reconstruction.notes import ASSUMED as FROM_PODS
from scheduler_core.cluster.reconstruction.notes import FORGOTTEN, Note
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    controller_of,
    is_active,
    key_in,
    key_of,
    labels_of,
    name_of,
    namespace_of,
    spec_of,
    uid_of,
)
from scheduler_core.cluster.v1_37.revisions import ASSUMED

Reference = dict[str, Any]


class Dump:
    """Objects by kind and key. ``unlisted`` are uids of owners that are not put back, and count as there."""

    def __init__(self, objects: Iterable[Manifest]) -> None:
        self.objects: dict[str, dict[str, Manifest]] = {}
        self.notes: list[Note] = []
        self.unlisted: set[str] = set()
        self._owned: dict[tuple[str, str], dict[str, None]] = {}
        """Keys by kind and the controller's uid; of those without one by kind and "/" with the namespace."""
        for obj in filled(objects):
            self.put(obj)

    def put(self, obj: Manifest) -> None:
        """Store an object, also in place of another version of it."""
        kind, key = obj["kind"], key_of(obj)
        old = self.get(kind, key)
        if old is not None:
            self._owned[_place(old)].pop(key, None)
        self.objects.setdefault(kind, {})[key] = obj
        self._owned.setdefault(_place(obj), {})[key] = None

    def get(self, kind: str, key: str) -> Manifest | None:
        """Return an object, ``None`` if there is none."""
        return self.objects.get(kind, {}).get(key)

    def of_kind(self, kind: str) -> list[Manifest]:
        """Return the objects of a kind in order of their keys."""
        return [one for _, one in sorted(self.objects.get(kind, {}).items())]

    def all(self) -> list[Manifest]:
        """Return all objects."""
        return [one for found in self.objects.values() for one in found.values()]

    def owned(self, kind: str, uid: str) -> list[Manifest]:
        """Return the objects of a kind whose controller has a uid, in order of their keys."""
        return [self.objects[kind][key] for key in sorted(self._owned.get((kind, uid), ()))]

    def missing(self, kind: str, *owner_kinds: str) -> list[tuple[Reference, list[Manifest]]]:
        """Return the controllers of these kinds that objects name and the dump lacks, with the objects.

        An owner of the same name with another uid is no gap: the objects are garbage of an earlier one.
        """
        found: dict[str, tuple[Reference, list[Manifest]]] = {}
        for one in self.of_kind(kind):
            reference = controller_of(one)
            if reference is None or (owner_kinds and reference["kind"] not in owner_kinds):
                continue
            key = key_in(reference["kind"], namespace_of(one), reference["name"])
            if self.get(reference["kind"], key) is None:
                found.setdefault(reference["uid"], (reference, []))[1].append(one)
        return list(found.values())

    def add(self, obj: Manifest, note: str = "", group: str = FROM_PODS) -> Manifest:
        """Put an object back, and note it; it is marked as assumed."""
        meta = dict(obj["metadata"])
        meta.setdefault("uid", assumed_uid(obj["kind"], key_of(obj)))
        meta.setdefault("creationTimestamp", MADE_AT)
        meta |= {"generation": 1, "resourceVersion": "1"}
        meta["annotations"] = {**(meta.get("annotations") or {}), ASSUMED: "true"}
        made = {**obj, "metadata": meta}
        self.put(made)
        if note:
            self.notes.append(Note(note, obj["kind"], group))
        return made

    def adoptable(self, pods: list[Manifest], labels: Mapping[str, str]) -> list[Manifest]:
        """Return the pods without controller that an owner of some pods would adopt by its labels."""
        free = self.owned("Pod", f"/{namespace_of(pods[0])}")
        return [one for one in free if labels.items() <= labels_of(one).items() and is_active(one)]


def _place(obj: Manifest) -> tuple[str, str]:
    owner = controller_of(obj)
    return obj["kind"], f"/{namespace_of(obj)}" if owner is None else str(owner["uid"])


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def named(kind: str, namespace: str, name: str) -> str:
    """Return how notes name an object: with its namespace unless that is the default one."""
    return f"{kind} {name}" if namespace in ("", "default") else f"{kind} {namespace}/{name}"


def shared_labels(pods: Iterable[Manifest]) -> dict[str, str]:
    """Return the labels that all of the pods have."""
    rows = [labels_of(pod).items() for pod in pods]
    return dict(sorted(rows[0] & set.intersection(*map(set, rows)))) if rows else {}


def oldest(objects: Iterable[Manifest]) -> str:
    """Return when the first of some objects was created."""
    times = [one["metadata"].get("creationTimestamp") or MADE_AT for one in objects]
    return min(times, default=MADE_AT)


def youngest(pods: Iterable[Manifest]) -> Manifest:
    """Return the pod that was created last, of those of a second the last by name."""
    return max(pods, key=lambda pod: (pod["metadata"].get("creationTimestamp") or "", name_of(pod)))


def active(pods: Iterable[Manifest]) -> list[Manifest]:
    """Return the pods that count as replicas."""
    return [pod for pod in pods if is_active(pod)]


def reference(owner: Manifest) -> Reference:
    """Return the reference of a controller on what it has made."""
    return {
        "apiVersion": owner.get("apiVersion", "apps/v1"),
        "kind": owner["kind"],
        "name": name_of(owner),
        "uid": uid_of(owner),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def add_revision(
    dump: Dump, owner: Manifest, name: str, hash_label: dict[str, str], data: Manifest, number: int
) -> Manifest:
    """Put back a ControllerRevision of a set."""
    labels = (spec_of(owner)["template"].get("metadata") or {}).get("labels") or {}
    return dump.add(
        {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {
                "name": name,
                "namespace": namespace_of(owner),
                "labels": {**labels, **hash_label},
                "ownerReferences": [reference(owner)],
                "creationTimestamp": owner["metadata"].get("creationTimestamp") or MADE_AT,
            },
            "data": data,
            "revision": number,
        }
    )


def note_history(dump: Dump, owner: Manifest) -> None:
    """Note that revisions of a set were put back."""
    text = (
        f"ControllerRevisions of {named(owner['kind'], namespace_of(owner), name_of(owner))} are not in the "
        "dump: its older templates are not known, and rolling back to them is refused"
    )
    dump.notes.append(Note(text, owner["kind"], FORGOTTEN))
