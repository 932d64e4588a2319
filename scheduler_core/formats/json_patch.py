"""JSON patch (RFC 6902): a list of add, remove, replace, move, copy and test, at JSON pointers (RFC 6901)."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from itertools import islice
from typing import Any

from scheduler_core.formats.patch_error import MAX_DEPTH, MAX_VALUES, PatchError, measured
from scheduler_core.kubernetes.names import did_you_mean

PatchOperation = dict[str, Any]

_ESCAPE = re.compile(r"~(?![01])")


def apply_json_patch(document: Any, patch: Any) -> Any:
    """Apply all operations to the document in place and return it. Raises PatchError for one of them."""
    if not isinstance(patch, list):
        raise PatchError("a JSON patch must be a list of operations, such as [{op: remove, path: /spec/x}]")
    for index, operation in enumerate(patch):
        if not isinstance(operation, dict):
            raise PatchError("must be an object with op and path", (index,))
        name = operation.get("op")
        if not isinstance(name, str) or name not in _OPS:
            hint = did_you_mean(name, _OPS) if isinstance(name, str) else ""
            listed = ", ".join(_OPS)
            raise PatchError(f"op must be one of {listed}, not {str(name)[:40]!r}{hint}", (index, "op"))
        try:
            document = _OPS[name](document, operation)
        except PatchError as error:
            raise PatchError(error.message, (index, *error.path)) from None
    return document


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal by RFC 6902: true is not a number, 1 equals 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def _steps(operation: PatchOperation, field: str) -> list[str]:
    pointer = operation.get(field)
    if pointer is None:
        raise PatchError(f"{field} is missing: write a pointer such as /spec/unschedulable", (field,))
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise PatchError(f"{field} must be a pointer such as /spec/unschedulable", (field,))
    if _ESCAPE.search(pointer):
        raise PatchError("in a pointer ~ must be followed by 0 (for ~) or 1 (for /)", (field,))
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _index(part: str, target: list[Any], field: str, *, adding: bool) -> int:
    if adding and part == "-":
        return len(target)
    if part == "-":
        raise PatchError("- is the index after the last item, where no item exists", (field,))
    plain = part.isascii() and part.isdecimal()
    if not plain or (len(part) > 1 and part[0] == "0") or len(part) > 9:
        raise PatchError(f"{part[:40]!r} is not a list index", (field,))
    index = int(part)
    if index >= len(target) + adding:
        raise PatchError(f"the list has no item {index}: it has {len(target)}", (field,))
    return index


def _suggestion(word: str, parent: Any) -> str:
    return did_you_mean(word, islice(parent, 200)) if isinstance(parent, dict) else ""


def _walk(document: Any, steps: list[str], field: str) -> Any:
    for part in steps:
        if isinstance(document, dict) and part in document:
            document = document[part]
        elif isinstance(document, list):
            document = document[_index(part, document, field, adding=False)]
        else:
            raise PatchError(
                f"the path does not exist at {part[:60]!r}{_suggestion(part, document)}", (field,)
            )
    return document


def _value(operation: PatchOperation) -> Any:
    if "value" not in operation:
        raise PatchError("value is missing", ("value",))
    return copy.deepcopy(operation["value"])


def _put(document: Any, steps: list[str], value: Any, *, replace: bool = False) -> Any:
    if not steps:
        return value
    parent, last = _walk(document, steps[:-1], "path"), steps[-1]
    if isinstance(parent, list):
        index = _index(last, parent, "path", adding=not replace)
        if replace:
            parent[index] = value
        else:
            parent.insert(index, value)
    elif isinstance(parent, dict):
        if replace and last not in parent:
            hint = _suggestion(last, parent) or ": use add"
            raise PatchError(f"there is no {last[:60]!r} to replace{hint}", ("path",))
        parent[last] = value
    else:
        raise PatchError(f"the path does not exist at {last[:60]!r}", ("path",))
    return document


def _remove(document: Any, steps: list[str], field: str) -> Any:
    if not steps:
        raise PatchError("the whole object cannot be removed: use deleteOperation", (field,))
    parent, last = _walk(document, steps[:-1], field), steps[-1]
    if isinstance(parent, list):
        del parent[_index(last, parent, field, adding=False)]
    elif isinstance(parent, dict) and last in parent:
        del parent[last]
    else:
        raise PatchError(f"there is no {last[:60]!r} to remove{_suggestion(last, parent)}", (field,))
    return document


def _test(document: Any, operation: PatchOperation) -> Any:
    if not same(_walk(document, _steps(operation, "path"), "path"), _value(operation)):
        raise PatchError("the tested value differs", ("value",))
    return document


def _move(document: Any, operation: PatchOperation) -> Any:
    source, target = _steps(operation, "from"), _steps(operation, "path")
    if source == target:
        _walk(document, source, "from")
        return document
    if target[: len(source)] == source:
        raise PatchError("a value cannot be moved into its own child", ("path",))
    value = _walk(document, source, "from")
    return _put(_remove(document, source, "from"), target, value)


def _copy(document: Any, operation: PatchOperation) -> Any:
    value = _walk(document, _steps(operation, "from"), "from")
    size, before = measured(value, MAX_VALUES, MAX_DEPTH), measured(document, MAX_VALUES, MAX_DEPTH)
    if not size or not before or size + before > MAX_VALUES:
        raise PatchError(
            f"the object becomes larger than {MAX_VALUES:,} values or deeper than {MAX_DEPTH} levels"
        )
    return _put(document, _steps(operation, "path"), copy.deepcopy(value))


_OPS: dict[str, Callable[[Any, PatchOperation], Any]] = {
    "add": lambda d, o: _put(d, _steps(o, "path"), _value(o)),
    "replace": lambda d, o: _put(d, _steps(o, "path"), _value(o), replace=True),
    "remove": lambda d, o: _remove(d, _steps(o, "path"), "path"),
    "test": _test,
    "move": _move,
    "copy": _copy,
}
