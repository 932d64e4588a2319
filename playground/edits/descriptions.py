"""Descriptions of operations and patches as phrases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from scheduler_core.authoring.verbs import verb_in
from scheduler_core.formats.patch import apply_patch, kind_of_patch
from scheduler_core.kubernetes.keys import Key, document_key
from scheduler_core.kubernetes.manifests import Document, Manifest
from scheduler_core.scenario.history_entries import target_of
from scheduler_core.scenario.reconfiguration import VERSIONS

WORDS_SHOWN = 3  # fields of a patch that are listed
VALUE_SHOWN = 48  # characters
POD_SPECS = (("spec", "template", "spec"), ("spec", "jobTemplate", "spec", "template", "spec"), ("spec",))
CONTAINERS = ("containers", "initContainers")


def named(key: Key) -> str:
    """Return a name such as ``Pod default/web-1``; for a singleton, its kind."""
    return key[0] if key[0] in VERSIONS else f"{key[0]} {key[1]}"


def words_of(entry: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> str:
    """Return an operation as a phrase: ``patch Node n1: spec.unschedulable true``.

    ``before`` is the manifest that a patch changes, if known: new images are then shown with the old ones.
    """
    if "doneOperation" in entry:
        return "the end of the history"
    key = named(target_of(entry))
    if "createOperation" in entry:
        return f"create {key}"
    if "deleteOperation" in entry:
        return f"delete {key}"
    patch = entry["patchOperation"].get("patch")
    verb, second = verb_in(patch)
    if verb:
        now = "" if entry.get("time") is None else f"{entry['time']:g}"
        return f"{verb} {key} at {second} s" if second not in ("", now) else f"{verb} {key}"
    change = (images_of(before, _patched(entry, before)) if before else "") or patch_words(patch)
    return f"patch {key}: {change}" if change else f"patch {key}"


def all_words(entries: Sequence[Mapping[str, Any]], documents: Sequence[Document]) -> list[str]:
    """Return :func:`words_of` for every entry of a history; container patches are compared with before."""
    wanted = {target_of(entry) for entry in entries if _changes_containers(entry)}
    known: dict[Key, Mapping[str, Any] | None] = {}
    if wanted:
        known = {key: document for document in documents if (key := document_key(document)) in wanted}
    words = []
    for entry in entries:
        target = None if "doneOperation" in entry else target_of(entry)
        before = None if target is None else known.get(target)
        words.append(words_of(entry, before))
        if target in wanted:
            known[target] = _after(entry, before)
    return words


def _changes_containers(entry: Mapping[str, Any]) -> bool:
    return "patchOperation" in entry and any(name in str(entry["patchOperation"]) for name in CONTAINERS)


def _after(entry: Mapping[str, Any], before: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if "createOperation" in entry:
        made = entry["createOperation"].get("object")
        return made if isinstance(made, Mapping) else None
    return _patched(entry, before) if "patchOperation" in entry and before else None


def _patched(entry: Mapping[str, Any], before: Mapping[str, Any]) -> Manifest | None:
    body = entry["patchOperation"]
    with suppress(ValueError, KeyError, TypeError):  # an invalid patch is reported by the reader
        return dict(apply_patch(dict(before), body["patch"], kind_of_patch(body, dict(before))))
    return None


def images_of(before: Mapping[str, Any], after: Mapping[str, Any] | None) -> str:
    """Return ``image web:1 → web:2`` if a change affects only images, otherwise ``""``."""
    if after is None:
        return ""
    phrases = []
    updated: Any = dict(before)
    for path in POD_SPECS:
        for field in CONTAINERS:
            olds, news = (_containers(manifest, (*path, field)) for manifest in (updated, after))
            if [old.get("name") for old in olds] != [new.get("name") for new in news]:
                return ""
            changed = [(old, new) for old, new in zip(olds, news) if old.get("image") != new.get("image")]
            if not changed:
                continue
            updated = _with(updated, (*path, field), [_imaged(old, new) for old, new in zip(olds, news)])
            for old, new in changed:
                of = f" of {old.get('name')}" if len(olds) > 1 or field != "containers" else ""
                phrases.append(f"image{of} {_image(old)} → {_image(new)}")
    if updated != after:
        return ""
    more = len(phrases) - WORDS_SHOWN
    return ", ".join(phrases[:WORDS_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _image(container: Mapping[str, Any]) -> str:
    return str(container.get("image") or "none")[:VALUE_SHOWN]


def _imaged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in old.items() if name != "image"}
    return {**kept, "image": new["image"]} if "image" in new else kept


def _containers(manifest: Any, path: tuple[str, ...]) -> list[Mapping[str, Any]]:
    for step in path:
        manifest = manifest.get(step) if isinstance(manifest, Mapping) else None
    listed = manifest if isinstance(manifest, Sequence) and not isinstance(manifest, str) else ()
    return [container for container in listed if isinstance(container, Mapping)]


def _with(manifest: Mapping[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    step, *rest = path
    return {**manifest, step: _with(manifest[step], tuple(rest), value) if rest else value}


def patch_words(patch: Any) -> str:
    """Return the first fields that a patch sets, with their values: ``spec.replicas 4``."""
    fields = list(_fields(patch, ""))
    more = len(fields) - WORDS_SHOWN
    return ", ".join(fields[:WORDS_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _fields(patch: Any, path: str) -> list[str]:
    if isinstance(patch, Mapping) and patch:
        return [
            text
            for name, value in list(patch.items())[:50]
            for text in _fields(value, f"{path}.{name}" if path else str(name))
        ]
    if isinstance(patch, list):
        if patch and isinstance(patch[0], Mapping) and "op" in patch[0]:
            return [
                f"{step.get('op')} {step.get('path')}" for step in patch[:50] if isinstance(step, Mapping)
            ]
        return [f"{path} ({len(patch)})"]
    value = "removed" if patch is None else str(patch).lower() if isinstance(patch, bool) else str(patch)
    return [f"{path} {value}"[: len(path) + VALUE_SHOWN]]
