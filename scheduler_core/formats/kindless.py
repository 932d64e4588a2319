"""Objects as Go's clients marshal them, without kind and apiVersion: which kind their fields show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.kubernetes.support import part_of

_SHOWN = (
    ("Pod", ("spec", "containers"), list),
    ("Node", ("status", "nodeInfo"), dict),
    ("Node", ("status", "allocatable"), dict),
)
"""Kind, and the field of no other kind that is read, with its type."""


def shown_kind(value: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the kind of an object without one, and the field that shows it; None if nothing does."""
    if "kind" in value or not isinstance(value.get("metadata"), dict):
        return None
    found = ((kind, ".".join(path)) for kind, path, of in _SHOWN if isinstance(part_of(value, *path), of))
    return next(found, None)
