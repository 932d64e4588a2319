"""Dumps that people have shortened: uids, times, references and defaults that an API server always has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler_core.cluster.v1_37.defaults import admitted
from scheduler_core.cluster.v1_37.objects import (
    CLUSTER_SCOPED,
    Manifest,
    controller_of,
    key_in,
    key_of,
    namespace_of,
    owners_of,
    spec_of,
    with_meta,
)
from scheduler_core.cluster.v1_37.revisions import data_of, template_of

MADE_AT = "2000-01-01T00:00:00Z"
_SETS = ("StatefulSet", "DaemonSet")


class _Classes:
    """The classes among some objects, for admission."""

    def __init__(self, objects: dict[tuple[str, str], Manifest]) -> None:
        self._objects = objects
        self._listed: dict[str, list[Manifest]] = {}
        for (kind, _), one in objects.items():
            if kind in ("PriorityClass", "StorageClass"):
                self._listed.setdefault(kind, []).append(one)

    def get(self, kind: str, key: str) -> Manifest | None:
        """Return an object, ``None`` if there is none."""
        return self._objects.get((kind, key))

    def of_kind(self, kind: str) -> list[Manifest]:
        """Return the classes of a kind."""
        return self._listed.get(kind, [])


def assumed_uid(kind: str, key: str) -> str:
    """Return the uid of an object that has none."""
    return f"assumed-{kind.lower()}-{key.replace('/', '-')}"


def filled(objects: Iterable[Manifest]) -> list[Manifest]:
    """Return objects with what the API server gives each, where they lack it; a full dump stays as it is."""
    given = {(one["kind"], key_of(one)): one for one in objects}
    at = max((str(one["metadata"].get("creationTimestamp") or "") for one in given.values()), default="")
    named = {place: _named(one, at or MADE_AT) for place, one in given.items()}
    classes = _Classes(named)
    made = {place: admitted(_referring(one, named), classes) for place, one in named.items()}
    return [
        _as_its_set(one, given, made) if one["kind"] == "ControllerRevision" else one for one in made.values()
    ]


def _named(obj: Manifest, at: str) -> Manifest:
    own: dict[str, Any] = {"uid": assumed_uid(obj["kind"], key_of(obj)), "creationTimestamp": at}
    own |= {"generation": 1, "resourceVersion": "1"}
    if obj["kind"] not in CLUSTER_SCOPED:
        own["namespace"] = "default"
    meta = {name: value for name, value in obj["metadata"].items() if value is not None}
    return {**obj, "metadata": {**own, **meta}}


def _referring(obj: Manifest, named: dict[tuple[str, str], Manifest]) -> Manifest:
    """Return an object whose owner references have uids."""
    if all(one.get("uid") for one in owners_of(obj)):
        return obj
    owners = []
    for one in owners_of(obj):
        place = one["kind"], key_in(one["kind"], namespace_of(obj), one["name"])
        known = named[place]["metadata"]["uid"] if place in named else assumed_uid(*place)
        owners.append({"uid": known, **one})
    return with_meta(obj, ownerReferences=owners)


def _as_its_set(
    revision: Manifest, given: dict[tuple[str, str], Manifest], made: dict[tuple[str, str], Manifest]
) -> Manifest:
    """Return a revision with the defaults of its set, where both were shortened alike."""
    owner = controller_of(revision)
    if owner is None or owner["kind"] not in _SETS:
        return revision
    place = owner["kind"], key_in(owner["kind"], namespace_of(revision), owner["name"])
    if place not in given or template_of(revision) != spec_of(given[place]).get("template"):
        return revision
    return {**revision, "data": data_of(spec_of(made[place])["template"])}
