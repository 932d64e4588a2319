"""The key of an object within a scenario: its kind, namespace and name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.kubernetes.kinds import KINDS, MANIFEST_KINDS
from scheduler_core.kubernetes.model import KubernetesObject, Workload

Key = tuple[str, str]
"""Kind, and ``namespace/name`` (or the name alone for a cluster-scoped kind)."""


def kind_of(obj: KubernetesObject) -> str:
    """Return the object's Kubernetes kind."""
    return obj.kind if isinstance(obj, Workload) else type(obj).__name__


def key_of(obj: KubernetesObject) -> Key:
    """Return the key of an object."""
    return kind_of(obj), obj.meta.key


def document_key(document: Mapping[str, Any]) -> Key:
    """Return the key of a raw manifest, whether or not its kind is supported."""
    kind = str(document.get("kind"))
    meta = document.get("metadata")
    meta = meta if isinstance(meta, Mapping) else {}  # of an ignored kind, whose fields nothing checks
    row = KINDS.get(kind) or MANIFEST_KINDS.get(kind)
    name = str(meta.get("name"))
    return kind, f"{meta.get('namespace') or 'default'}/{name}" if row is None or row.namespaced else name
