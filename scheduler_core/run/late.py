"""Apply a patch when it takes effect, to the object as last changed by controllers and the scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import force_setattr

from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.formats.decode import decode, find_kind
from scheduler_core.formats.interner import with_parts_of
from scheduler_core.formats.manifest import whole_manifest
from scheduler_core.formats.patch import patched_by
from scheduler_core.kubernetes.keys import key_of
from scheduler_core.kubernetes.model import KubernetesObject, WrittenManifest
from scheduler_core.kubernetes.readers import At, Report


class NoEffectError(ValueError):
    """An operation is not possible when it takes effect; the text states why."""


def patched(live: KubernetesObject | None, operation: Mapping[str, Any], name: str) -> KubernetesObject:
    """Return an object with a ``patchOperation`` applied; ``name`` is its kind and name.

    Raises NoEffectError if the object does not exist, or if the patch does not apply to its current state.
    """
    if live is None:
        raise NoEffectError(f"there is no {name} at this moment")
    report = Report(strict=False)
    at = At(report, None, BundleEntry({}))
    document = patched_by(operation, whole_manifest(live), at.child("patch"))
    made = _read(document, report) if isinstance(document, dict) else None
    if made is None or report.errors:
        found = report.errors[0] if report.errors else None
        raise NoEffectError(found[1] if found else "the patch leaves no object")
    if key_of(made) != key_of(live):
        raise NoEffectError(f"a patch must not change the kind, the name or the namespace of {name}")
    force_setattr(made.meta, "written", _written(live, operation))
    return made


def _written(live: KubernetesObject, operation: Mapping[str, Any]) -> WrittenManifest | None:
    """Return what an object was read from with the patch, unless that does not suit it."""
    written = live.meta.written
    if written is None or written.is_template:
        return written
    document = patched_by(operation, written.document, At(Report(strict=False), None, BundleEntry({})))
    return (
        WrittenManifest(with_parts_of(written.document, document)) if isinstance(document, dict) else written
    )


def _read(document: dict[str, Any], report: Report) -> KubernetesObject | None:
    entry = BundleEntry(document, str(document.get("kind") or ""))
    row = find_kind(entry, At(report, None, entry))
    return decode(entry, row, report) if row is not None else None
