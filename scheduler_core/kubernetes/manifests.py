"""Raw Kubernetes manifests: JSON objects, whether or not their kind is supported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Manifest = dict[str, Any]
"""One manifest, which its holder may modify."""

Document = Mapping[str, Any]
"""A read-only manifest."""


def part(document: Manifest, *path: str | int) -> Any:
    """Return a part of a manifest, creating missing objects on the path to it."""
    place: Any = document
    for step in path:
        if isinstance(step, int):
            place = place[step]
        else:
            if not isinstance(place.get(step), (dict, list)):
                place[step] = {}
            place = place[step]
    return place
