"""A scheduler's configuration with Coscheduling enabled, and the other changes which that entails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.schedulers.coscheduling.editions import Edition
from scheduler_core.schedulers.v1_22.configuration.compiler import compile_configuration
from scheduler_core.schedulers.v1_22.configuration.conversion import Conversion
from scheduler_core.schedulers.v1_22.configuration.from_policy import from_policy
from scheduler_core.schedulers.v1_22.configuration.plugins import COSCHEDULING, MULTI_POINT
from scheduler_core.schedulers.v1_22.configuration.versions import VERSIONS, Version
from scheduler_core.settings.release import CONFIGURATION_KIND, DEFAULT_SCHEDULER
from scheduler_core.settings.settings import DEFAULT_SETTINGS, Settings

AT_POINTS = ("preFilter", "postFilter", "permit", "reserve", "postBind")
"""The extension points of Coscheduling besides queueSort, for a version without multiPoint."""

VERSION_OF = {"classic": "v1beta2", "current": "v1"}
"""The version in which a new configuration is written, by the edition built against it."""


def schedules_groups(document: Document | None, settings: Settings = DEFAULT_SETTINGS) -> bool:
    """Return whether all profiles of a configuration enable Coscheduling; a Policy cannot."""
    if document is None or document.get("kind") != CONFIGURATION_KIND:
        return False
    return compile_configuration(document, settings).coscheduling


def with_coscheduling(
    document: Document | None, edition: Edition, settings: Settings = DEFAULT_SETTINGS, newest: str = ""
) -> Conversion:
    """Return the configuration with Coscheduling in every profile.

    ``document`` is the active configuration: a Policy is converted to a KubeSchedulerConfiguration, ``None``
    to a default one. A KubeSchedulerConfiguration keeps its version, and so its edition of the plugin;
    another document gets the usual version of the edition, or ``newest``.

    Raises:
        PolicyError: The active configuration cannot be used.
    """
    if document is not None and document.get("kind") == CONFIGURATION_KIND:
        return _enabled(document, settings)
    version = VERSIONS[newest or VERSION_OF[edition.id]]
    if document is None:
        head = {"apiVersion": version.api_version, "kind": CONFIGURATION_KIND}
        plain = {**head, "profiles": [{"schedulerName": DEFAULT_SCHEDULER}]}
        note = f"the default plugins of kube-scheduler {version.releases} replace v1.11's provider"
        return Conversion(_with_plugin(plain, version), (), (note,))
    others = (other for other in VERSIONS.values() if other is not version and not newest)
    older = [other for other in others if other.edition is edition]
    made = [(of, from_policy(document, of.name, settings)) for of in (version, *older)]
    version, found = min(made, key=lambda pair: len(pair[1].lost))  # ties: the usual one
    return Conversion(_with_plugin(found.document, version), found.lost, found.notes)


def _enabled(document: Document, settings: Settings) -> Conversion:
    compiled = compile_configuration(document, settings)
    version = compiled.version
    if compiled.coscheduling:
        return Conversion(document)
    made = {**document, "profiles": document.get("profiles") or [{"schedulerName": DEFAULT_SCHEDULER}]}
    note = f"{version.name} has the {version.edition.id} edition of the plugin, which reads both spellings"
    return Conversion(_with_plugin(made, version), (), (note,))


def _with_plugin(document: Mapping[str, Any], version: Version) -> Document:
    return {**document, "profiles": [_of_profile(profile, version) for profile in document["profiles"]]}


def _of_profile(profile: Mapping[str, Any], version: Version) -> dict[str, Any]:
    """Enable the plugin after those already enabled, and as the only queueSort plugin."""
    plugins = dict(profile.get("plugins") or {})
    plugins["queueSort"] = {"enabled": [{"name": COSCHEDULING}], "disabled": [{"name": "*"}]}
    for point in (MULTI_POINT,) if MULTI_POINT in version.points else AT_POINTS:
        listed = dict(plugins.get(point) or {})
        enabled = list(listed.get("enabled") or ())
        if not any(entry.get("name") == COSCHEDULING for entry in enabled):
            listed["enabled"] = [*enabled, {"name": COSCHEDULING}]
        disabled = [e for e in listed.get("disabled") or () if e.get("name") != COSCHEDULING]
        listed.pop("disabled", None)
        plugins[point] = {**listed, **({"disabled": disabled} if disabled else {})}
    return {**profile, "plugins": plugins}
