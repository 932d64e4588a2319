"""The profile, or the other scheduler, that serves what arrives: the ``schedulerName`` of its pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.authoring.policy_rewrites import EditError
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.support import part_of
from scheduler_core.scenario.history_entries import SCENARIO_KIND
from scheduler_core.settings.release import CONFIGURATION_KIND, DEFAULT_SCHEDULER, row_of
from scheduler_core.settings.settings import SETTINGS_KIND
from scheduler_core.studies.sweep.shapes import ARRIVING, is_arriving

FIELD = "schedulerName"


def served(documents: Sequence[Document], name: Any, release: str) -> list[Document]:
    """Return the documents in which pods that arrive, now or by an operation, name a profile.

    Raises:
        EditError: The release has no profiles, or nothing serves pods of this name.
    """
    if row_of(release).reads != CONFIGURATION_KIND:
        raise EditError(f"{release} has no profiles")
    known = list(dict.fromkeys(_names(documents)))
    if name not in known:
        raise EditError(f"there is no profile {str(name)[:60]!r}; there are {', '.join(known[:12])}")
    return [_renamed(one, name) for one in documents]


def number_of(documents: Sequence[Document], name: str) -> int:
    """Return the place of a profile in the configuration, 0 for one that it does not list."""
    listed = [str(one.get(FIELD) or DEFAULT_SCHEDULER) for one in _profiles(documents)]
    return listed.index(name) if name in listed else 0


def _profiles(documents: Sequence[Document]) -> Sequence[Mapping[str, Any]]:
    given = next((one for one in documents if one.get("kind") == CONFIGURATION_KIND), {})
    profiles = given.get("profiles")
    return [one for one in profiles if isinstance(one, Mapping)] if isinstance(profiles, list) else ()


def _names(documents: Sequence[Document]) -> Iterator[str]:
    """Yield the names of the configuration's profiles, and of the schedulers beside kube-scheduler."""
    yield from (str(one.get(FIELD) or DEFAULT_SCHEDULER) for one in _profiles(documents) or ({},))
    for one in documents:
        beside = one.get("schedulers") if one.get("kind") == SETTINGS_KIND else None
        yield from (str(row.get("name")) for row in beside or () if isinstance(row, Mapping))


def _renamed(document: Document, name: str) -> Document:
    if document.get("kind") == SCENARIO_KIND:
        spec = document.get("spec") or {}
        listed = [_created(one, name) for one in spec.get("operations") or ()]
        return {**document, "spec": {**spec, "operations": listed}}
    return _naming(document, name) if is_arriving(document) else document


def _created(operation: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    made = part_of(operation, "createOperation", "object")
    if not isinstance(made, Mapping) or made.get("kind") not in ARRIVING:
        return operation
    return {**operation, "createOperation": {**operation["createOperation"], "object": _naming(made, name)}}


def _naming(document: Document, name: str) -> Document:
    spec = document.get("spec") or {}
    if document.get("kind") == "Pod":
        return {**document, "spec": {**spec, FIELD: name}}
    template = spec.get("template") or {}
    named = {**template, "spec": {**(template.get("spec") or {}), FIELD: name}}
    return {**document, "spec": {**spec, "template": named}}
