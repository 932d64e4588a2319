"""Configurations inside ConfigMaps: which kind a file of one has, and whose scheduler it is for.

A cluster's second scheduler, and its descheduler, read their configuration from a mounted ConfigMap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.skipped_kinds import ValueTally
from scheduler_core.formats.yaml_documents import read_documents
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.readers import At, Report, path_text, show
from scheduler_core.kubernetes.support import part_of
from scheduler_core.schedulers.table import checked
from scheduler_core.schedulers.v1_11.policy.document import POLICY_VERSION
from scheduler_core.settings.descheduler import DESCHEDULER_POLICY
from scheduler_core.settings.release import (
    BY_PLUGINS,
    CONFIGURATION_KIND,
    CONFIGURATION_V1,
    DEFAULT_RELEASE,
    DEFAULT_SCHEDULER,
    GATED,
)
from scheduler_core.settings.settings import Settings

POLICY_KIND = "Policy"
CONTAINED = (CONFIGURATION_KIND, DESCHEDULER_POLICY, POLICY_KIND)
"""Kinds of documents that are read from ConfigMaps."""

MOST = 200_000
"""Characters of a ConfigMap's file that is looked into."""

_OWNERS = dict.fromkeys(("yunikorn-configs", "yunikorn-defaults"), "Apache YuniKorn")
_LIMITS = Limits(size=MOST, documents=20, values=20_000)
_MENTIONED = re.compile(rf"\bkind[\"']?\s*:\s*[\"']?({'|'.join(CONTAINED)})\b")


class Contained(Struct, frozen=True):
    """A document in a file of a ConfigMap; ``entry`` has it with the place of the file."""

    kind: str
    file: str
    entry: BundleEntry


def contained_in(entry: BundleEntry) -> Iterator[Contained]:
    """Yield the configurations in a ConfigMap's files. What cannot be read is passed over."""
    data = entry.value.get("data") if entry.kind == "ConfigMap" else None
    for file, text in data.items() if isinstance(data, Mapping) else ():
        if isinstance(text, str) and len(text) <= MOST and _MENTIONED.search(text):
            for value in _documents(text):
                kind = value.get("kind")
                if kind in CONTAINED and (kind != POLICY_KIND or value.get("apiVersion") == POLICY_VERSION):
                    inside = BundleEntry(
                        value, kind, entry.source, entry.number, (*entry.prefix, "data", file)
                    )
                    yield Contained(kind, file, inside)


def owner_by_name(value: Document) -> str:
    """Return the scheduler whose configuration a ConfigMap is by its name alone, "" if none."""
    return (
        _OWNERS.get(str(part_of(value, "metadata", "name")), "") if value.get("kind") == "ConfigMap" else ""
    )


def _documents(text: str) -> Iterator[dict[str, Any]]:
    try:
        read = list(read_documents(text, _LIMITS, ValueTally(_LIMITS)))
    except FormatError:
        return
    yield from (value for _, value in read if isinstance(value, dict))


def usable(
    found: Sequence[Contained], settings: Settings, *, configured: bool
) -> tuple[Document | None, list[tuple[Contained, str]]]:
    """Return the KubeSchedulerConfiguration that ConfigMaps have for the scheduler, and what to say of each.

    Their profiles run as those of one kube-scheduler. ``configured``: the bundle has a configuration of its
    own, which counts alone. The cluster's default scheduler, which a second one leaves as it is, keeps its
    defaults.
    """
    profiles: dict[str, Any] = {}
    release = settings.scheduler or DEFAULT_RELEASE
    taken: list[Contained] = []
    said: list[tuple[Contained, str]] = []
    for one in found:
        why = _unusable(one.entry, settings, configured=configured)
        named = {} if why else {_name(profile): profile for profile in _profiles(one.entry.value)}
        known = ", ".join(name for name in named if name in profiles)
        if why or known:
            reason = why or f"{known} is configured by another ConfigMap"
            said.append((one, f"a {CONFIGURATION_KIND} that is not used: {reason}"))
            continue
        taken.append(one)
        profiles |= named
        which = f"profile{'s' if len(named) > 1 else ''} {', '.join(named)}"
        text = f"the {which} of this {CONFIGURATION_KIND} is used, as one of kube-scheduler {release}"
        said.append((one, text))
    if not taken:
        return None, said
    profiles.setdefault(DEFAULT_SCHEDULER, {"schedulerName": DEFAULT_SCHEDULER})
    return {**taken[0].entry.value, "profiles": list(profiles.values())}, said


def _unusable(entry: BundleEntry, settings: Settings, *, configured: bool) -> str:
    """Return why a ConfigMap's configuration is not used, "" if it is."""
    version = entry.value.get("apiVersion")
    if configured:
        return "the bundle has a configuration of its own"
    if settings.scheduler not in ("", *BY_PLUGINS) or settings.only_v1_11:
        return f"it is one of kube-scheduler {GATED}, and another release was chosen"
    if version != CONFIGURATION_V1:
        return f"it is of {show(version)}; to run it, pass it as a file of its own"
    report = Report()
    checked(entry.value, settings, At(report, None, entry))
    return next((f"{path_text(at.steps)}: {text}" for at, text in report.errors), "")


def _profiles(value: Document) -> list[Mapping[str, Any]]:
    return list(value.get("profiles") or ({},))


def _name(profile: Mapping[str, Any]) -> str:
    return str(profile.get("schedulerName") or DEFAULT_SCHEDULER)
