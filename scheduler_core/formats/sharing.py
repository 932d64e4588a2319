"""Equal parts of many manifests made one object, so that each is read, checked and compiled once."""

from __future__ import annotations

import marshal
from typing import Any

MOST = 1_000  # different parts
_PARTS = (("spec",), ("metadata", "labels"), ("metadata", "annotations"), ("metadata", "ownerReferences"))


class SharedParts:
    """The parts of pods so far: specifications, labels, annotations and owners."""

    def __init__(self) -> None:
        self._known: dict[bytes, Any] = {}

    def use(self, manifest: dict[str, Any]) -> None:
        """Replace a pod's parts by the equal ones of an earlier pod, in place."""
        if manifest.get("kind") != "Pod":
            return
        for *path, name in _PARTS:
            holder = manifest.get(path[0]) if path else manifest
            if type(holder) is dict and holder.get(name):
                holder[name] = self._one(holder[name])

    def _one(self, part: Any) -> Any:
        try:
            key = marshal.dumps(part, 2)  # the last version whose output does not depend on identities
        except ValueError:  # not of plain values
            return part
        known = self._known.get(key)
        if known is None and len(self._known) < MOST:
            known = self._known[key] = part
        return part if known is None else known
