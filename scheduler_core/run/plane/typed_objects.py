"""Typed objects of manifests that controllers and kubelets write, as the page and the views have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import force_setattr, replace

from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    controller_of,
    is_ready,
    labels_of,
    restarts_of,
    spec_of,
    status_of,
)
from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.formats.decode import decode, find_kind
from scheduler_core.kubernetes.model import KubernetesObject, Pod, WrittenManifest
from scheduler_core.kubernetes.readers import At, Report

_READ = ("labels", "annotations", "ownerReferences")


Alike = dict[str, tuple[Manifest, Pod]]
"""By owner's uid: the pod that was read last, and its typed form. Pods of one owner share what they can."""


def typed_form(
    manifest: Manifest, alike: Alike, old: Manifest | None = None, previous: KubernetesObject | None = None
) -> KubernetesObject | None:
    """Return the typed object of a manifest; ``old`` and ``previous`` are those of its last version.

    ``None`` if the manifest cannot be read.
    """
    if manifest["kind"] != "Pod":
        return _decoded(manifest, previous)
    if old is not None and isinstance(previous, Pod) and _is_like(manifest, old):
        return _with_state(previous, manifest)
    owner = controller_of(manifest)
    known = alike.get(owner["uid"]) if owner is not None else None
    if known is not None and _is_like(manifest, known[0]):
        return _with_state(_renamed(known[1], manifest), manifest)
    made = _decoded(manifest, previous)
    if not isinstance(made, Pod):
        return None
    if owner is not None:
        alike[owner["uid"]] = manifest, made
    return _with_state(made, manifest)


def _decoded(manifest: Manifest, previous: KubernetesObject | None) -> KubernetesObject | None:
    """Return an object, of which is said to be written what was written of its version before."""
    report = Report(strict=False)
    entry = BundleEntry(manifest, str(manifest["kind"]))
    row = find_kind(entry, At(report, None, entry))
    made = decode(entry, row, report) if row is not None else None
    if made is not None:
        template = WrittenManifest(manifest, is_template=True) if isinstance(made, Pod) else None
        force_setattr(made.meta, "written", template if previous is None else previous.meta.written)
    return made


def _is_like(pod: Manifest, other: Manifest) -> bool:
    """Return whether two pods differ in name, node and status alone."""
    meta, known = pod["metadata"], other["metadata"]
    for field in _READ:
        one, before = meta.get(field), known.get(field)
        if one is not before and (one or None) != (before or None):
            return False
    specs = spec_of(pod), spec_of(other)
    return specs[0] is specs[1] or {**specs[0], "nodeName": ""} == {**specs[1], "nodeName": ""}


def _renamed(pod: Pod, manifest: Manifest) -> Pod:
    given = manifest["metadata"]
    meta = replace(
        pod.meta,
        name=given["name"],
        uid=given["uid"],
        labels=pod.meta.labels if labels_of(manifest) == pod.meta.labels else labels_of(manifest),
        creation_timestamp=given.get("creationTimestamp"),
    )
    return replace(pod, meta=meta)


def _with_state(pod: Pod, manifest: Manifest) -> Pod:
    """Return a pod with its node, its status and its deletion."""
    status: Mapping[str, Any] = status_of(manifest)
    phase = str(status.get("phase") or "Pending")
    gone = manifest["metadata"].get("deletionTimestamp")
    meta = pod.meta if pod.meta.deletion_timestamp == gone else replace(pod.meta, deletion_timestamp=gone)
    return replace(
        pod,
        meta=meta,
        node_name=str(spec_of(manifest).get("nodeName") or ""),
        nominated_node_name=status.get("nominatedNodeName") or "",
        phase=phase,
        ready=phase == "Pending" or is_ready(manifest),
        restarts=restarts_of(manifest) if status.get("containerStatuses") else 0,
        start_time=status.get("startTime"),
    )
