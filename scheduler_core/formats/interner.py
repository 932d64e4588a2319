"""Equal parts of many manifests made one object, so that each is read, checked and compiled once."""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from operator import is_
from typing import Any

MOST = 1_000  # different parts
_OF_METADATA = ("labels", "annotations", "ownerReferences")


class SharedParts:
    """The parts of pods so far: specifications, labels, annotations and owners."""

    def __init__(self) -> None:
        self._known: dict[bytes, Any] = {}
        self._kept: set[int] = set()  # identities of the values of ``_known``

    def use(self, manifest: dict[str, Any]) -> None:
        """Replace a pod's parts by the equal ones of an earlier pod, in place."""
        if manifest.get("kind") != "Pod":
            return
        self._share(manifest, "spec")
        meta = manifest.get("metadata")
        if type(meta) is dict:
            for name in _OF_METADATA:
                self._share(meta, name)

    def _share(self, holder: dict[str, Any], name: str) -> None:
        part = holder.get(name)
        if part and id(part) not in self._kept:
            holder[name] = self._one(part)

    def _one(self, part: Any) -> Any:
        try:
            key = marshal.dumps(part, 2)  # the last version whose output does not depend on identities
        except ValueError:  # not of plain values
            return part
        known = self._known.get(key)
        if known is None and len(self._known) < MOST:
            known = self._known[key] = part
            self._kept.add(id(part))
        return part if known is None else known


def differ_in_name_alone(one: Mapping[str, Any], other: Mapping[str, Any], own: frozenset[str]) -> bool:
    """Return whether two manifests have the same parts but for fields ``own`` of their metadata.

    False is inconclusive: equal lists and objects may be different ones.
    """
    mine, theirs = one["metadata"], other["metadata"]
    return _alike(one, other, _METADATA) and _alike(mine, theirs, own)


_METADATA = frozenset({"metadata"})


def _alike(one: Mapping[str, Any], other: Mapping[str, Any], but: frozenset[str]) -> bool:
    """Return whether two objects have the same values, strings equal ones, under the same keys in order."""
    if [*one] != [*other]:
        return False
    for (key, value), known in zip(one.items(), other.values()):
        if value is not known and not (type(value) is str and value == known) and key not in but:
            return False
    return True


def with_parts_of(old: Any, new: Any) -> Any:
    """Return a copy of a manifest that was changed, with the unchanged parts of the original.

    Versions of an object are kept with each of its patches: they share all else.
    """
    if type(old) is not type(new) or not isinstance(new, dict | list):
        return new
    if isinstance(new, dict):
        made: Any = {key: with_parts_of(old.get(key), value) for key, value in new.items()}
        same = list(made) == list(old) and all(map(is_, made.values(), old.values()))
    else:
        made = [*map(with_parts_of, old, new), *new[len(old) :]]
        same = len(made) == len(old) and all(map(is_, made, old))
    return old if same else made
