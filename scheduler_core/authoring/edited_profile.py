"""One profile of a KubeSchedulerConfiguration, changed in place in a copy of the document."""

from __future__ import annotations

import copy
from typing import Any

from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.schedulers.v1_22.configuration.plugins import base_name

PROFILES = 20


class EditedProfile:
    """One profile of a copied document, to be changed in place; ``number`` is its place from 0, as text."""

    def __init__(self, document: Document, number: str) -> None:
        self.document: dict[str, Any] = copy.deepcopy(dict(document))
        profiles = self.document["profiles"] = self.document.get("profiles") or [{}]
        if not (number.isdecimal() and len(number) < 4 and int(number) < len(profiles)):
            raise EditError(f"There is no profile {number[:20]!r}.")
        self.number = int(number)
        self.written: dict[str, Any] = profiles[self.number]

    def listed(self, point: str, which: str) -> list[dict[str, Any]]:
        """Return the list ``enabled`` or ``disabled`` of a point, creating it if absent."""
        plugins = self.written.get("plugins")
        if not isinstance(plugins, dict):
            plugins = self.written["plugins"] = {}
        own = plugins.get(point)
        if not isinstance(own, dict):
            own = plugins[point] = {}
        if not isinstance(own.get(which), list):
            own[which] = []
        entries: list[dict[str, Any]] = own[which]
        return entries

    def drop(self, point: str, which: str, plugin: str) -> None:
        """Remove a plugin from a list."""
        entries = self.listed(point, which)
        entries[:] = [entry for entry in entries if base_name(str(entry.get("name"))) != plugin]

    def tidied(self) -> Document:
        """Return the document without empty lists and plugin sets."""
        made = copy.deepcopy(self.document)
        written = made["profiles"][self.number]
        plugins = {
            point: {which: entries for which, entries in (own or {}).items() if entries}
            for point, own in (written.get("plugins") or {}).items()
        }
        written["plugins"] = {point: own for point, own in plugins.items() if own}
        for field in ("plugins", "pluginConfig"):
            if not written.get(field):
                written.pop(field, None)
        if made["profiles"] == [{}]:
            del made["profiles"]
        return made


def with_profile(document: Document, scheduler_name: str) -> Document:
    """Return the document with a copy of its first profile under another name."""
    made: dict[str, Any] = copy.deepcopy(dict(document))
    profiles = made["profiles"] = made.get("profiles") or [{}]
    if len(profiles) >= PROFILES:
        raise EditError(f"At most {PROFILES} profiles can be created here.")
    for profile in profiles:
        profile.setdefault("schedulerName", "default-scheduler")
    profiles.append({**copy.deepcopy(profiles[0]), "schedulerName": scheduler_name})
    return made


def renamed(document: Document, number: str, scheduler_name: str) -> Document:
    """Return the document with a profile renamed, or without it if the name is empty."""
    profile = EditedProfile(document, number)
    if scheduler_name:
        profile.written["schedulerName"] = scheduler_name
        return profile.tidied()
    if len(profile.document["profiles"]) == 1:
        raise EditError("A configuration needs a profile.")
    del profile.document["profiles"][profile.number]
    return profile.document


def with_arguments(profile: EditedProfile, plugin: str, arguments: dict[str, Any] | None) -> None:
    """Set a plugin's arguments, in their place; ``None`` removes them."""
    configs = profile.written.get("pluginConfig")
    configs = configs if isinstance(configs, list) else []
    place = next((n for n, c in enumerate(configs) if base_name(str(c.get("name"))) == plugin), len(configs))
    given = [] if arguments is None else [{"name": plugin, "args": arguments}]
    profile.written["pluginConfig"] = [*configs[:place], *given, *configs[place + 1 :]]
