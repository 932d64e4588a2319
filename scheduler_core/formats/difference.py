"""The difference between two manifests, as the smallest patch that :mod:`…formats.patch` applies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from scheduler_core.formats.json_patch import same
from scheduler_core.formats.patch import MERGE_KEYS, PatchError, apply_patch, has_strategic

Patch = Any


def smallest_patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, Patch]:
    """Return the type (``merge``, ``strategic`` or ``json``) and the patch that turns one into the other.

    It is the shortest of the exact patches; ties go to the merge patch, which can be read without a table of
    merge keys. A null in a manifest counts as an absent field, as in the API server.
    """
    wanted = without_nulls(after)
    found = [(kind, patch) for kind, patch in _proposed(before, after) if _leads(before, patch, kind, wanted)]
    if not found:
        return "json", [{"op": "replace", "path": "", "value": wanted}]
    return min(found, key=lambda pair: len(json.dumps(pair[1], ensure_ascii=False)))


def _proposed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, Patch]]:
    proposed = [("merge", merge_patch(before, after))]
    return (
        [*proposed, ("strategic", _patch(before, after, MERGE_KEYS))] if has_strategic(before) else proposed
    )


def _leads(before: Mapping[str, Any], patch: Patch, kind: str, wanted: Any) -> bool:
    try:
        return bool(without_nulls(apply_patch(before, patch, kind)) == wanted)
    except PatchError:
        return False


def without_nulls(value: Any) -> Any:
    """Copy a manifest without the fields that are null."""
    if isinstance(value, Mapping):
        return {key: without_nulls(part) for key, part in value.items() if part is not None}
    return [without_nulls(item) for item in value] if isinstance(value, (list, tuple)) else value


def _same(old: Any, new: Any) -> bool:
    return bool(old == new) and same(old, new)  # True == 1 in Python


def merge_patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON merge patch that turns one into the other; empty if only nulls differ."""
    return _patch(before, after, {})


def _patch(before: Mapping[str, Any], after: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, Any]:
    """Return a patch; ``keys`` maps the fields whose lists merge to the merge keys of their items."""
    patch: dict[str, Any] = {key: None for key in before if key not in after and before[key] is not None}
    for key, value in after.items():
        old = before.get(key)
        if _same(old, value):
            continue
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            patch[key] = _patch(old, value, keys)
        elif isinstance(value, list) and isinstance(old, list) and key in keys:
            patch[key] = _items(old, value, keys[key])
        else:
            patch[key] = value if value is None else without_nulls(value)
    return patch


def _items(old: list[Any], new: list[Any], key: str) -> list[Any]:
    """Return the patch of a list with the merge key ``key``: its changed, added and deleted items."""
    kept, wanted = _by(old, key), _by(new, key)
    if kept is None or wanted is None:
        return [{"$patch": "replace"}, *new]
    patch: list[Any] = [{key: name, "$patch": "delete"} for name in kept if name not in wanted]
    for name, item in wanted.items():
        if name not in kept:
            patch.append(item)
        elif not _same(kept[name], item):
            patch.append({key: name, **_patch(kept[name], item, MERGE_KEYS)})
    return patch


def _by(items: list[Any], key: str) -> dict[Any, Mapping[str, Any]] | None:
    """Return the items by their key, None if one has no key or two have the same."""
    if not all(isinstance(item, Mapping) and isinstance(item.get(key), (str, int)) for item in items):
        return None
    found = {item[key]: item for item in items}
    return found if len(found) == len(items) else None
