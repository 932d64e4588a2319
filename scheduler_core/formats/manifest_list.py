"""Manifests that a record lists, read without any admission or defaulting."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.formats.decode import decode, find_kind
from scheduler_core.formats.problems import problems_of
from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.kubernetes.readers import At, Report


def read_manifests(manifests: object) -> list[KubernetesObject]:
    """Read manifests as they are; kinds that are not read are passed over.

    Raises:
        ValueError: They are not a list of objects.
        BundleError: An object cannot be read.
    """
    if not isinstance(manifests, list) or not all(isinstance(obj, Mapping) for obj in manifests):
        raise ValueError("objects must be a list of manifests")
    report = Report(strict=False)
    found = []
    for number, manifest in enumerate(manifests, 1):
        kind = manifest.get("kind")
        entry = BundleEntry(dict(manifest), kind if isinstance(kind, str) else "", None, number)
        row = find_kind(entry, At(report, None, entry))
        read = None if row is None else decode(entry, row, report)
        if read is not None:
            found.append(read)
    if report.errors:
        raise BundleError(problems_of(report.errors))
    return found
