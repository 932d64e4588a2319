"""The three ways to patch a manifest: JSON merge patch, JSON patch, strategic merge patch.

RFC 7386, RFC 6902, and Kubernetes' own, the last for the lists that scheduling reads.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.objects.reading import At

PATCH_TYPES = {
    "application/merge-patch+json": "merge",
    "application/json-patch+json": "json",
    "application/strategic-merge-patch+json": "strategic",
    "merge": "merge",
    "json": "json",
    "strategic": "strategic",
}

# Lists whose items are merged by a key; every other list is replaced (patchMergeKey in the API's types).
MERGE_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "volumes": "name",
    "env": "name",
    "ports": "containerPort",
    "conditions": "type",
    "ownerReferences": "uid",
    "volumeMounts": "mountPath",
    "predicates": "name",  # of a Policy, which the API server does not know
    "priorities": "name",
}


class PatchError(ValueError):
    """The patch cannot be applied. ``path`` is the place in the patch, as steps."""

    def __init__(self, message: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = path


def patched_by(operation: Mapping[str, Any], document: Any, at: At) -> Any:
    """Return the document as a ``patchOperation`` changes it; ``None`` after reporting to its ``patch``."""
    patch = operation["patch"]
    how = operation.get("patchType") or ("json" if isinstance(patch, list) else "strategic")
    try:
        return apply_patch(document, patch, how)
    except PatchError as error:
        for step in error.path:
            at = at.child(step)
        at.error(error.message)
        return None


def apply_patch(document: Any, patch: Any, patch_type: str) -> Any:
    """Return the patched document; the original is not changed. Raises PatchError.

    ``patch_type`` is one of the words of :data:`PATCH_TYPES`. A patch given as text is parsed as JSON.
    """
    if isinstance(patch, str):
        try:
            patch = json.loads(patch)
        except (ValueError, RecursionError) as error:
            raise PatchError(f"the patch is not valid JSON: {error}") from None
    return _APPLY[PATCH_TYPES[patch_type]](copy.deepcopy(document), patch)


def _merge(target: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        raise PatchError("a merge patch must be an object")
    return _merged(target, patch, ())


def _merged(target: Any, patch: Any, path: tuple[str | int, ...]) -> Any:
    if not isinstance(patch, dict):
        return patch
    if len(path) > 100:
        raise PatchError("nested too deeply", path)
    out = target if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = _merged(out.get(key), value, (*path, key))
    return out


def _strategic(target: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        raise PatchError("a strategic merge patch must be an object")
    return _strategically(target, patch, (), "")


def _strategically(target: Any, patch: Any, path: tuple[str | int, ...], name: str) -> Any:
    if len(path) > 100:
        raise PatchError("nested too deeply", path)
    if isinstance(patch, dict):
        how = patch.get("$patch")
        rest = {k: v for k, v in patch.items() if not k.startswith("$")}
        out = target if isinstance(target, dict) and how != "replace" else {}
        for key, value in rest.items():
            if value is None:
                out.pop(key, None)
            else:
                out[key] = _strategically(out.get(key), value, (*path, key), key)
        return out
    merge_key = MERGE_KEYS.get(name)
    if isinstance(patch, list) and merge_key and isinstance(target, list):
        return _merge_list(target, patch, merge_key, path)
    return patch


def _merge_list(target: list[Any], patch: list[Any], key: str, path: tuple[str | int, ...]) -> list[Any]:
    out = list(target)
    for index, item in enumerate(patch):
        place = (*path, index)
        if not isinstance(item, dict):
            raise PatchError("must be an object", place)
        if item.get("$patch") == "replace":
            return [i for i in patch if isinstance(i, dict) and "$patch" not in i]
        if key not in item:
            raise PatchError(f"needs {key}, by which the items of this list are told apart", place)
        at = next(
            (i for i, old in enumerate(out) if isinstance(old, dict) and old.get(key) == item[key]), None
        )
        if item.get("$patch") == "delete":
            if at is not None:
                del out[at]
        elif at is None:
            out.append(_strategically(None, item, place, ""))
        else:
            out[at] = _strategically(out[at], item, place, "")
    return out


# --- JSON patch


def _json_patch(document: Any, patch: Any) -> Any:
    if not isinstance(patch, list):
        raise PatchError("a JSON patch must be a list of operations")
    for index, operation in enumerate(patch):
        if not isinstance(operation, dict):
            raise PatchError("must be an object with op and path", (index,))
        name = operation.get("op")
        if name not in _OPS:
            raise PatchError(f"op must be one of {', '.join(_OPS)}, not {name!r}", (index, "op"))
        try:
            document = _OPS[name](document, operation)
        except PatchError as error:
            raise PatchError(error.message, (index, *error.path)) from None
    return document


def _steps(operation: dict[str, Any], field: str) -> list[str]:
    pointer = operation.get(field)
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise PatchError(f"{field} must be a pointer such as /spec/unschedulable", (field,))
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _index(part: str, target: list[Any], *, adding: bool) -> int:
    if adding and part == "-":
        return len(target)
    if not part.isdecimal() or (len(part) > 1 and part[0] == "0") or len(part) > 9:
        raise PatchError(f"{part[:40]!r} is no index of a list", ("path",))
    index = int(part)
    if index >= len(target) + adding:
        raise PatchError(f"the list has no item {index}", ("path",))
    return index


def _walk(document: Any, steps: list[str]) -> Any:
    for part in steps:
        if isinstance(document, dict) and part in document:
            document = document[part]
        elif isinstance(document, list):
            document = document[_index(part, document, adding=False)]
        else:
            raise PatchError(f"the path leads nowhere at {part[:60]!r}", ("path",))
    return document


def _value(operation: dict[str, Any]) -> Any:
    if "value" not in operation:
        raise PatchError("value is missing", ("value",))
    return copy.deepcopy(operation["value"])


def _put(document: Any, steps: list[str], value: Any, *, replace: bool = False) -> Any:
    if not steps:
        return value
    parent, last = _walk(document, steps[:-1]), steps[-1]
    if isinstance(parent, list):
        index = _index(last, parent, adding=not replace)
        if replace:
            parent[index] = value
        else:
            parent.insert(index, value)
    elif isinstance(parent, dict):
        if replace and last not in parent:
            raise PatchError(f"there is no {last[:60]!r} to replace: use add", ("path",))
        parent[last] = value
    else:
        raise PatchError(f"the path leads nowhere at {last[:60]!r}", ("path",))
    return document


def _remove(document: Any, steps: list[str]) -> Any:
    if not steps:
        raise PatchError("the whole object cannot be removed: use deleteOperation", ("path",))
    parent, last = _walk(document, steps[:-1]), steps[-1]
    if isinstance(parent, list):
        del parent[_index(last, parent, adding=False)]
    elif isinstance(parent, dict) and last in parent:
        del parent[last]
    else:
        raise PatchError(f"there is no {last[:60]!r} to remove", ("path",))
    return document


def _test(document: Any, operation: dict[str, Any]) -> Any:
    if _walk(document, _steps(operation, "path")) != operation.get("value"):
        raise PatchError("the tested value differs", ("value",))
    return document


def _move(document: Any, operation: dict[str, Any]) -> Any:
    source = _steps(operation, "from")
    value = _walk(document, source)
    return _put(_remove(document, source), _steps(operation, "path"), value)


def _copy(document: Any, operation: dict[str, Any]) -> Any:
    value = copy.deepcopy(_walk(document, _steps(operation, "from")))
    return _put(document, _steps(operation, "path"), value)


_OPS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "add": lambda d, o: _put(d, _steps(o, "path"), _value(o)),
    "replace": lambda d, o: _put(d, _steps(o, "path"), _value(o), replace=True),
    "remove": lambda d, o: _remove(d, _steps(o, "path")),
    "test": _test,
    "move": _move,
    "copy": _copy,
}

_APPLY: dict[str, Callable[[Any, Any], Any]] = {"merge": _merge, "json": _json_patch, "strategic": _strategic}
