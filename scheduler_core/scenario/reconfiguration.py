"""Changes of the scheduler's configuration by operations of a Scenario.

There is at most one Policy or KubeSchedulerConfiguration, and at most one SimulationSettings document.
``createOperation`` activates a complete new one, ``patchOperation`` changes the active one,
``deleteOperation`` reverts to the default. kube-scheduler reads its configuration at startup, so each of them
restarts it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from scheduler_core.formats.patch import patched_by
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.readers import At
from scheduler_core.schedulers.out_of_tree import without_out_of_tree
from scheduler_core.schedulers.table import SUPPORT
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration, checked
from scheduler_core.settings.release import (
    CONFIGURATION_GROUP,
    CONFIGURATION_KIND,
    CONFIGURATION_V1,
    GATED,
    TIMED,
    plugins_named,
)
from scheduler_core.settings.settings import DEFAULT_SETTINGS, SETTINGS_KIND, Settings, read_settings

POLICY_KIND = "Policy"
VERSIONS = {POLICY_KIND: "v1", CONFIGURATION_KIND: CONFIGURATION_V1, SETTINGS_KIND: "podstep/v1"}
"""The kinds that configure the scheduler, each with its current version."""

OTHER = {POLICY_KIND: CONFIGURATION_KIND, CONFIGURATION_KIND: POLICY_KIND}
RESTARTS = 1_000  # operations of a scenario that change the configuration


def is_configuration(value: Any) -> bool:
    """Return whether an operation's object, or its typeMeta, is of a kind that configures the scheduler."""
    kind = value.get("kind") if isinstance(value, Mapping) else None
    if not isinstance(kind, str) or kind not in VERSIONS:
        return False
    version = value.get("apiVersion")
    if kind == CONFIGURATION_KIND:
        return version is None or (
            isinstance(version, str) and version.partition("/")[0] == CONFIGURATION_GROUP
        )
    return version in (None, VERSIONS[kind])  # other APIs have a kind Policy too


class Reconfiguration:
    """The active configuration, updated by each operation of a scenario that a ``release`` answers."""

    def __init__(
        self, policy: Document | None, settings: Document | None, read: Settings, release: str = ""
    ) -> None:
        self._release = release
        self._documents: dict[str, Document | None] = {
            POLICY_KIND: None,
            CONFIGURATION_KIND: None,
            SETTINGS_KIND: settings,
        }
        if policy is not None:
            of = CONFIGURATION_KIND if policy.get("kind") == CONFIGURATION_KIND else POLICY_KIND
            self._documents[of] = policy
        self._settings = read
        self._count = 0

    def create(self, document: Mapping[str, Any], at: At) -> Configuration | None:
        """Activate a complete document. Returns None, with an error reported, if it is invalid."""
        kind = str(document["kind"])
        other = OTHER.get(kind)
        if other is not None and self._documents[other] is not None:
            at.child("kind").error(f"a {other} is in force at this step: delete it before creating a {kind}")
            return None
        return self._take(kind, document, at)

    def patch(self, kind: str, body: Mapping[str, Any], at: At) -> Configuration | None:
        """Patch the active document. Returns None, with an error reported, if the result is invalid."""
        document = self._documents[kind]
        if document is None:
            at.child("typeMeta").child("kind").error(
                f"there is no {kind} at this step to be patched: create one with createOperation"
            )
            return None
        place = at.child("patch")
        patched = patched_by(body, document, place)
        if patched is None:
            return None
        if not is_configuration(patched) or patched["kind"] != kind:
            place.error(f"must leave an object of the kind {kind} and the apiVersion {VERSIONS[kind]}")
            return None
        return self._take(kind, patched, place)

    def delete(self, kind: str, at: At) -> Configuration | None:
        """Revert to the default provider, or to the default settings."""
        if self._documents[kind] is None:
            at.child("typeMeta").child("kind").error(f"there is no {kind} at this step to be deleted")
            return None
        return self._take(kind, None, at)

    def _take(self, kind: str, document: Document | None, at: At) -> Configuration | None:
        self._count += 1
        if self._count > RESTARTS:
            if self._count == RESTARTS + 1:
                at.error(f"more than {RESTARTS:,} changes of the configuration")
            return None
        self._documents[kind] = document  # even if invalid, so that it causes no errors in later operations
        policy, configuration = (self._documents[of] for of in (POLICY_KIND, CONFIGURATION_KIND))
        settings = self._settings
        wrong = len(at.report.errors)
        if kind == SETTINGS_KIND:
            settings = DEFAULT_SETTINGS if document is None else read_settings(document, at)
        active = policy if configuration is None else configuration
        settings = self._pinned(settings, configuration)
        # Every setting suits a Policy: one that is active is not reported on again.
        new = document if kind == POLICY_KIND else configuration
        made = (
            Configuration(active, settings)
            if new is None
            else checked(without_out_of_tree(new, at), settings, at)
        )
        if len(at.report.errors) > wrong:
            return None
        self._settings = settings
        return made

    def _pinned(self, settings: Settings, configuration: Document | None) -> Settings:
        """Return the settings for a configuration that v1.37 would read, if the framework answers."""
        if self._release != TIMED or settings.scheduler or configuration is None:
            return settings
        named = SUPPORT[GATED].holding.intersection(plugins_named(configuration))
        return replace(settings, scheduler=TIMED) if named else settings
