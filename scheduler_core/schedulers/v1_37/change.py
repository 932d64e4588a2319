"""A write to the objects of the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

Manifest = Mapping[str, Any]


class ObjectWrite(Struct, frozen=True):
    """One write to the cluster's objects, in order of the writes.

    ``old`` is None for a creation, ``new`` for a deletion. ``seconds`` pass on the virtual clock before it.
    The queue derives its events from it (``AssignedPodAdd``, ``NodeUpdateNodeLabel``, …).
    """

    kind: str
    key: str  # "name" or "namespace/name"
    old: Manifest | None
    new: Manifest | None
    seconds: float = 0.0
