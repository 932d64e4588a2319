"""Changing or removing one object's manifest in a text from the start, without an operation."""

from __future__ import annotations

from typing import Any

from playground.edits.descriptions import named, words_of
from playground.edits.drafts import written
from playground.edits.edit_operations import (
    OBJECT_BYTES,
    MissingError,
    ObjectError,
    kept,
    key_of_target,
    typed,
)
from playground.storage import bundles
from scheduler_core.formats.difference import smallest_patch, without_nulls
from scheduler_core.formats.patch import PatchError, apply_patch
from scheduler_core.kubernetes.keys import Key, document_key
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.scenario.history_entries import patching
from scheduler_core.scenario.scenario import Scenario


def has_manifest(scenario: Scenario, key: Key) -> bool:
    """Return whether an object has a manifest, rather than being created by a controller or an operation."""
    return any(document_key(document) == key for document in scenario.documents)


def amended(text: str, target: str, wanted: str | None, base: str) -> dict[str, Any]:
    """Return the text with an object's manifest changed, or without it if ``wanted`` is None.

    ``wanted`` is YAML edited from ``base``, the object at the start: only differences are applied to the
    manifest, so that fields added by admission or an operation are not written to it. An empty text is an
    error, not a deletion. Raises BundleError for a text that cannot be parsed, ObjectError, MissingError,
    TooLargeError.
    """
    if max(len(wanted or ""), len(base)) > OBJECT_BYTES:
        raise bundles.TooLargeError(f"An object's YAML may have {OBJECT_BYTES:,} characters.")
    scenario = bundles.parse([("", text)])
    key = key_of_target(target)
    documents: list[Document] = list(scenario.documents)
    place = next((at for at, document in enumerate(documents) if document_key(document) == key), None)
    if place is None:
        raise MissingError(f"{named(key)} has no manifest at the start: a controller or an event creates it.")
    if wanted is not None:
        documents[place], words = _changed(documents[place], key, wanted, base)
    else:
        del documents[place]
        words = f"delete {named(key)}"
    try:
        return {**written(text, scenario, tuple(documents)), "words": f"{words}, from the start"}
    except BundleError as error:
        raise ObjectError.of_whole(error) from error


def _changed(document: Document, key: Key, wanted: str, base: str) -> tuple[Document, str]:
    before, after = typed(base), kept(wanted, key)
    if without_nulls(before) == without_nulls(after):
        raise ObjectError([Problem("No change: this is the object's state at the start.")])
    kind, patch = smallest_patch(before, after)
    try:
        made = apply_patch(document, patch, kind)
    except PatchError as error:
        raise ObjectError([Problem(error.message)]) from error
    return made, words_of(patching(key, before, kind, patch), before)
