"""The descheduler of a bundle: its policy, checked with what the bundle has of priorities and namespaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.formats.decode import Decoded
from scheduler_core.kubernetes.model import PriorityClass
from scheduler_core.kubernetes.readers import At, Report
from scheduler_core.settings.descheduler import DESCHEDULER_POLICY, DeschedulerSettings

if TYPE_CHECKING:
    from scheduler_core.cluster.descheduler.configuration import DeschedulerConfiguration


def read_descheduler(
    settings: DeschedulerSettings | None,
    policies: Sequence[BundleEntry],
    objects: Iterable[Decoded],
    namespaces: Iterable[BundleEntry],
    settings_at: At,
) -> DeschedulerConfiguration | None:
    """Return what the settings start, ``None`` if nothing, or with errors, which are reported."""
    if settings is None:
        return None
    report: Report = settings_at.report
    for entry in policies[1:]:
        text = f"a second {DESCHEDULER_POLICY}: a bundle has one at most"
        At(report, None, entry).child("kind").error(text)
    if not policies:
        settings_at.child("descheduler").warn(f"nothing runs without a {DESCHEDULER_POLICY}: add one")
        return None
    from scheduler_core.cluster.descheduler.configuration import read_configuration

    values = (one.object for one in objects)
    classes = {one.meta.name: one.value for one in values if isinstance(one, PriorityClass)}
    labels = dict(_labels(entry.value) for entry in namespaces)
    return read_configuration(policies[0].value, settings, classes, labels, At(report, None, policies[0]))


def _labels(namespace: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    meta = namespace.get("metadata")
    meta = meta if isinstance(meta, Mapping) else {}
    labels = meta.get("labels")
    given = labels.items() if isinstance(labels, Mapping) else ()
    return str(meta.get("name")), {str(key): str(value) for key, value in given}
