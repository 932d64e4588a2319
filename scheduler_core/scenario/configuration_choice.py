"""Which of several configurations of a bundle is used: its own, one of a directory, those in ConfigMaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from msgspec.structs import replace

from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.kubernetes.kinds import KEPT_KINDS
from scheduler_core.kubernetes.readers import At, Report
from scheduler_core.scenario.config_maps import POLICY_KIND, Contained, usable
from scheduler_core.settings.descheduler import DESCHEDULER_POLICY, DeschedulerSettings
from scheduler_core.settings.release import CONFIGURATION_KIND
from scheduler_core.settings.settings import Settings


def choose(listed: list[BundleEntry], kind: str, report: Report) -> None:
    """Keep the one that was passed by itself; of several in directories none is used."""
    passed = [entry for entry in listed if entry.source is None or not entry.source.is_one_of_many]
    if len(listed) < 2 or len(passed) > 1:
        return
    others = [entry for entry in listed if entry not in passed]
    listed[:] = passed
    why = "the one that was passed by itself is" if passed else "pass the one to use as a file of its own"
    text = f"{len(others):,} documents of kind {kind} in a directory are not used: {why}"
    At(report, None, others[0]).child("kind").warn(text)


def adopted(
    contained: Sequence[Contained], settings: Settings, report: Report, *, configured: bool
) -> list[BundleEntry]:
    """Return the configuration of ConfigMaps, where nothing else is; say of each whether it is used."""
    found = [one for one in contained if one.kind == CONFIGURATION_KIND]
    document, said = usable(found, settings, configured=configured)
    policies = [one for one in contained if one.kind == POLICY_KIND]
    said += [
        (one, "a Policy of kube-scheduler that is not used: pass it as a file of its own") for one in policies
    ]
    for one, text in said:
        At(report, None, one.entry).warn(text)
    return [] if document is None else [replace(found[0].entry, value=cast("dict[str, Any]", document))]


def with_passes(
    settings: Settings, policies: Sequence[BundleEntry], contained: Sequence[Contained], report: Report
) -> Settings:
    """Start a descheduler for the passes that operations ask for, if there is a policy."""
    known = [*policies, *(one.entry for one in contained if one.kind == DESCHEDULER_POLICY)]
    if not known:
        return settings
    At(report, None, known[0]).warn(
        f"this {DESCHEDULER_POLICY} runs when an operation asks for a pass; to run it at an interval too, "
        "write descheduler: {interval: 5m} into the SimulationSettings"
    )
    return replace(settings, descheduler=DeschedulerSettings(passes=0))


def policies_of(
    policies: Sequence[BundleEntry], contained: Sequence[Contained], report: Report, *, runs: bool
) -> list[BundleEntry]:
    """Return the bundle's DeschedulerPolicies, or the first in a ConfigMap, and say what of each."""
    inside = [one.entry for one in contained if one.kind == DESCHEDULER_POLICY]
    used = [*policies] or inside[:1]
    for entry in inside:
        text = "is used" if runs and entry in used else f"is not used: {KEPT_KINDS[DESCHEDULER_POLICY]}"
        At(report, None, entry).warn(f"the {DESCHEDULER_POLICY} of this ConfigMap {text}")
    return used
