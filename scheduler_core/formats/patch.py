"""The three ways to patch a manifest: JSON merge patch, JSON patch, strategic merge patch.

RFC 7386, RFC 6902 (:mod:`…formats.json_patch`) and Kubernetes' own (:mod:`…formats.strategic_merge`).
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.formats.json_patch import apply_json_patch
from scheduler_core.formats.patch_error import MAX_DEPTH, MAX_VALUES, PatchError, measured
from scheduler_core.formats.strategic_merge import MERGE_KEYS, apply_strategic
from scheduler_core.kubernetes.readers import At

__all__ = ["MERGE_KEYS", "PATCH_TYPES", "PatchError", "apply_patch", "has_strategic", "kind_of_patch"]

PATCH_TYPES = {
    "application/merge-patch+json": "merge",
    "application/json-patch+json": "json",
    "application/strategic-merge-patch+json": "strategic",
    "merge": "merge",
    "json": "json",
    "strategic": "strategic",
}

# Groups of custom resources, for whose types the API server has no strategic merge patch.
_CUSTOM = ("sigs.k8s.io", "x-k8s.io", "incubator.k8s.io")
_BUILT_IN = ("apps", "batch", "extensions", "policy", "autoscaling", "podstep")


def has_strategic(document: Any) -> bool:
    """Return whether the API server accepts a strategic merge patch; it does not for a custom resource."""
    version = document.get("apiVersion") if isinstance(document, Mapping) else None
    group = version.rpartition("/")[0] if isinstance(version, str) else ""
    return not group or group in _BUILT_IN or (group.endswith(".k8s.io") and not group.endswith(_CUSTOM))


def kind_of_patch(operation: Mapping[str, Any], document: Any) -> str:
    """Return the type of a ``patchOperation``: the given one, else inferred from its patch and object."""
    patch = operation["patch"]
    given = operation.get("patchType")
    if given:
        return str(given)
    if isinstance(patch, list) or (isinstance(patch, str) and patch.lstrip()[:1] == "["):
        return "json"
    return "strategic" if has_strategic(document) else "merge"


def patched_by(operation: Mapping[str, Any], document: Any, at: At) -> Any:
    """Return the document patched by a ``patchOperation``; ``None`` after an error, reported at ``at``."""
    how = kind_of_patch(operation, document)
    try:
        if PATCH_TYPES[how] == "strategic" and not has_strategic(document):
            raise PatchError(
                "a custom resource has no strategic merge patch, for the API server does not know its lists: "
                "write patchType: merge"
            )
        return apply_patch(document, operation["patch"], how)
    except PatchError as error:
        for step in error.path:
            at = at.child(step)
        at.error(error.message)
        return None


def apply_patch(document: Any, patch: Any, patch_type: str) -> Any:
    """Return the patched document; the original is not changed. Raises PatchError.

    ``patch_type`` is a key of :data:`PATCH_TYPES`. A patch given as text is parsed as JSON.
    """
    if isinstance(patch, str):
        try:
            patch = json.loads(patch, parse_constant=_constant)
        except (ValueError, RecursionError) as error:
            raise PatchError(f"the patch is not valid JSON: {error}") from None
    if not measured(patch, MAX_VALUES, MAX_DEPTH):
        raise PatchError("nested too deeply, or too large")
    patched = _APPLY[PATCH_TYPES[patch_type]](copy.deepcopy(document), copy.deepcopy(patch))
    if not measured(patched, MAX_VALUES, MAX_DEPTH):
        raise PatchError(
            f"the object becomes larger than {MAX_VALUES:,} values or deeper than {MAX_DEPTH} levels"
        )
    return patched


def _constant(text: str) -> Any:
    raise ValueError(f"{text} is not a number that a manifest can hold")


def _merge(target: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        raise PatchError("a merge patch must be an object")
    return _merged(target, patch)


def _merged(target: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    out = target if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = _merged(out.get(key), value)
    return out


_APPLY: dict[str, Callable[[Any, Any], Any]] = {
    "merge": _merge,
    "json": apply_json_patch,
    "strategic": apply_strategic,
}
