"""Kubernetes' strategic merge patch: objects merge, and lists whose items have a merge key merge by it.

The keys are ``patchMergeKey`` of the API's types. The directives ``$patch``, ``$retainKeys``,
``$setElementOrder/<list>`` and ``$deleteFromPrimitiveList/<list>`` are those of
k8s.io/apimachinery/pkg/util/strategicpatch.
"""

from __future__ import annotations

from typing import Any

from scheduler_core.formats.patch_error import PatchError

Path = tuple[str | int, ...]

# Lists whose items are merged by a key; every other list is replaced, taints and tolerations among them.
MERGE_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "volumes": "name",
    "env": "name",
    "ports": "containerPort",  # a Service's: see _KEYS_AT
    "conditions": "type",
    "addresses": "type",
    "ownerReferences": "uid",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "imagePullSecrets": "name",
    "hostAliases": "ip",
    "podIPs": "ip",
    "schedulingGates": "name",
    "resourceClaims": "name",
    "topologySpreadConstraints": "topologyKey",
    "predicates": "name",  # of a Policy, which the API server does not know
    "priorities": "name",
}
_KEYS_AT: dict[Path, str] = {("spec", "ports"): "port"}
_SETS = ("finalizers",)  # lists of unique strings

_ORDER, _DELETE = "$setElementOrder/", "$deleteFromPrimitiveList/"
_HOW = ("merge", "replace", "delete")


def apply_strategic(target: Any, patch: Any) -> Any:
    """Apply the patch to the target in place and return it. Raises PatchError with its place."""
    if not isinstance(patch, dict):
        raise PatchError("a strategic merge patch must be an object")
    return _object(target, patch, ())


def _how(patch: dict[str, Any], path: Path) -> str:
    how = patch.get("$patch", "merge")
    if how not in _HOW:
        raise PatchError(f"must be one of {', '.join(_HOW)}, not {str(how)[:40]!r}", (*path, "$patch"))
    return str(how)


def _merged(target: Any, patch: Any, path: Path) -> Any:
    if isinstance(patch, dict):
        return _object(target, patch, path)
    if not isinstance(patch, list):
        return patch
    name = path[-1] if path else ""
    key = _KEYS_AT.get(path) or MERGE_KEYS.get(str(name))
    old = target if isinstance(target, list) else []
    if key is not None:
        return _list(old, patch, key, path)
    if name in _SETS:
        return old + [item for item in patch if item not in old]
    return patch


def _object(target: Any, patch: dict[str, Any], path: Path) -> Any:
    how = _how(patch, path)
    out = target if isinstance(target, dict) and how == "merge" else {}
    if how == "delete":
        return out
    _retain(out, patch, path)
    for key, value in patch.items():
        if key.startswith("$"):
            continue
        if value is None or (isinstance(value, dict) and value.get("$patch") == "delete"):
            out.pop(key, None)
        else:
            out[key] = _merged(out.get(key), value, (*path, key))
    for key, value in patch.items():
        if key.startswith(_DELETE):
            _take_out(out, key.removeprefix(_DELETE), _listed(value, (*path, key)))
        elif key.startswith(_ORDER):
            _order(out, key.removeprefix(_ORDER), _listed(value, (*path, key)), path)
        elif key.startswith("$") and key not in ("$patch", "$retainKeys"):
            raise PatchError(f"{key[:60]!r} is not a directive of a strategic merge patch", path)
    return out


def _listed(value: Any, path: Path) -> list[Any]:
    if not isinstance(value, list):
        raise PatchError("must be a list", path)
    return value


def _retain(out: dict[str, Any], patch: dict[str, Any], path: Path) -> None:
    """Drop the fields that ``$retainKeys`` does not name, for an object with one of several fields set."""
    if "$retainKeys" not in patch:
        return
    kept = _listed(patch["$retainKeys"], (*path, "$retainKeys"))
    for key in [key for key in out if key not in kept]:
        del out[key]


def _take_out(out: dict[str, Any], name: str, words: list[Any]) -> None:
    if isinstance(out.get(name), list):
        out[name] = [item for item in out[name] if item not in words]


def _order(out: dict[str, Any], name: str, wanted: list[Any], path: Path) -> None:
    """Reorder the named items among the positions that they occupy."""
    items = out.get(name)
    if not isinstance(items, list):
        return
    key = _KEYS_AT.get((*path, name)) or MERGE_KEYS.get(name)

    def named(item: Any) -> Any:
        return item.get(key) if key is not None and isinstance(item, dict) else item

    order = [named(item) for item in wanted]
    places = [place for place, item in enumerate(items) if named(item) in order]
    ordered = sorted((items[place] for place in places), key=lambda item: order.index(named(item)))
    for place, item in zip(places, ordered):
        items[place] = item


def _list(target: list[Any], patch: list[Any], key: str, path: Path) -> list[Any]:
    hows = []
    for index, item in enumerate(patch):
        if not isinstance(item, dict):
            raise PatchError("must be an object", (*path, index))
        hows.append(_how(item, (*path, index)))
    if "replace" in hows:
        return [item for item in patch if "$patch" not in item]
    out = list(target)
    for index, item in enumerate(patch):
        place = (*path, index)
        if key not in item:
            raise PatchError(f"needs {key}, the merge key of this list", place)
        at = next(
            (n for n, old in enumerate(out) if isinstance(old, dict) and old.get(key) == item[key]), None
        )
        if hows[index] == "delete":
            if at is not None:
                del out[at]
        elif at is None:
            out.append(_object(None, item, place))
        else:
            out[at] = _object(out[at], item, place)
    return out
