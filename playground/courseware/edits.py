"""What a learner changed in a bundle: how many edits, and which moves that the task forbids."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from msgspec import Struct

from playground.courseware.language import say
from playground.courseware.model import LessonError
from playground.courseware.playthrough import LIMITS
from scheduler_core.formats.bundle import read_files
from scheduler_core.formats.yaml_writer import write_yaml

Document = Mapping[str, Any]
Documents = Mapping[str, Document]
"""Manifests by ``Kind/name``, or ``Kind/namespace/name`` outside the namespace ``default``."""

DELETED = "$patch"


def documents(text: str) -> Documents:
    """Return the manifests of a bundle, those of lists one by one. Raises LessonError."""
    bundle = read_files([("", text)], LIMITS)
    for _, error in bundle.errors:
        line = f"line {error.line}: " if error.line else ""
        raise LessonError(f"{line}{error.message}")
    found: dict[str, Document] = {}
    for entry in bundle.entries:
        name = name_of(entry.value)
        if name in found:
            raise LessonError(f"{name} is there twice")
        found[name] = entry.value
    return found


def name_of(document: Document) -> str:
    """Return how a lesson names a manifest."""
    meta = document.get("metadata")
    meta = meta if isinstance(meta, Mapping) else {}
    kind, name, namespace = str(document.get("kind", "")), meta.get("name"), meta.get("namespace", "default")
    if name is None:
        return kind
    return f"{kind}/{name}" if namespace == "default" else f"{kind}/{namespace}/{name}"


def merged(base: str, changes: str) -> str:
    """Return a bundle with the objects of ``changes`` in place of its own; ``$patch: delete`` removes one."""
    whole = dict(documents(base))
    for name, document in documents(changes).items():
        if document.get(DELETED) == "delete":
            if whole.pop(name, None) is None:
                raise LessonError(f"there is no {name} to delete")
        else:
            whole[name] = document
    return write_yaml(whole.values())


def changed(before: Documents, after: Documents) -> list[str]:
    """Return what an edit changes: ``spec.tolerations of Pod/web``, or an object that it adds or deletes."""
    found = [f"`{name}`" for name in sorted(before.keys() ^ after.keys())]
    for name in sorted(before.keys() & after.keys()):
        found += [f"`{path}` of `{name}`" for path in _paths(before[name], after[name], "")]
    return found


def _paths(before: Any, after: Any, path: str) -> Iterator[str]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in {**before, **after}:
            if before.get(key) != after.get(key):
                yield from _paths(before.get(key), after.get(key), f"{path}.{key}".lstrip("."))
    elif before != after:
        yield path


def count_edits(before: Documents, after: Documents) -> int:
    """Return how many fields and list items differ.

    An object that is added or deleted is one edit, a key in place of another too.
    """
    count = len(before.keys() ^ after.keys())
    return count + sum(_differing(before[name], after[name]) for name in before.keys() & after.keys())


def _differing(before: Any, after: Any) -> int:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        gone, new = before.keys() - after.keys(), after.keys() - before.keys()
        kept = before.keys() & after.keys()
        return max(len(gone), len(new)) + sum(_differing(before[key], after[key]) for key in kept)
    if isinstance(before, list) and isinstance(after, list):
        return _items(before, after)
    return int(before != after)


def _items(before: list[Any], after: list[Any]) -> int:
    one, two = (
        [json.dumps(item, sort_keys=True, default=str) for item in items] for items in (before, after)
    )
    count = 0
    for what, i, j, k, m in SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        both = min(j - i, m - k)
        count += sum(_differing(before[i + n], after[k + n]) for n in range(both)) + abs((j - i) - (m - k))
    return count


class ForbiddenMove(Struct, frozen=True):
    """Something that a task may forbid to edit: a sentence for learners, and what must stay as it is."""

    words: str
    of: Callable[[Documents], Any]


def _kinds(*kinds: str) -> Callable[[Documents], Any]:
    return lambda whole: {name: one for name, one in whole.items() if one.get("kind") in kinds}


def _field(kinds: Sequence[str], *path: str) -> Callable[[Documents], Any]:
    return lambda whole: {
        name: _at(one, path)
        for name, one in whole.items()
        if one.get("kind") in kinds and _at(one, path) is not None
    }


def _at(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _requests(whole: Documents) -> Any:
    return {name: list(_requests_of(one)) for name, one in whole.items() if one.get("kind") == "Pod"}


def _requests_of(pod: Document) -> Iterator[Any]:
    for part in ("initContainers", "containers"):
        for container in _at(pod, ("spec", part)) or []:
            yield _at(container, ("resources",))


_CONFIGURATIONS = ("Policy", "KubeSchedulerConfiguration", "SchedulerConfiguration")

MOVES: Mapping[str, ForbiddenMove] = {
    "nodes": ForbiddenMove("The nodes stay as they are.", _kinds("Node")),
    "pods": ForbiddenMove("The pods stay as they are.", _kinds("Pod")),
    "taints": ForbiddenMove("The taints of the nodes stay as they are.", _field(("Node",), "spec", "taints")),
    "labels": ForbiddenMove(
        "The labels of the nodes stay as they are.", _field(("Node",), "metadata", "labels")
    ),
    "allocatable": ForbiddenMove(
        "No node gets larger or smaller.", _field(("Node",), "status", "allocatable")
    ),
    "requests": ForbiddenMove("What the pods request stays as it is.", _requests),
    "tolerations": ForbiddenMove(
        "The tolerations of the pods stay as they are.", _field(("Pod",), "spec", "tolerations")
    ),
    "selectors": ForbiddenMove(
        "The node selectors of the pods stay as they are.", _field(("Pod",), "spec", "nodeSelector")
    ),
    "node names": ForbiddenMove("No pod gets a `nodeName`.", _field(("Pod",), "spec", "nodeName")),
    "priorities": ForbiddenMove(
        "The priorities of the pods stay as they are.", _field(("Pod",), "spec", "priorityClassName")
    ),
    "configuration": ForbiddenMove("The scheduler's configuration stays as it is.", _kinds(*_CONFIGURATIONS)),
    "settings": ForbiddenMove("The simulation's settings stay as they are.", _kinds("SimulationSettings")),
}
"""What tasks forbid to edit; the simulation's settings are best always among it."""


def unchanged(before: Documents, after: Documents, what: str) -> bool:
    """Return whether an edit leaves something alone: a row of :data:`MOVES`, or an object, ``Pod/web``."""
    if what in MOVES:
        return bool(MOVES[what].of(before) == MOVES[what].of(after))
    if what not in before:
        raise LessonError(
            f"there is no {what!r} to leave alone: name an object, or one of {', '.join(MOVES)}"
        )
    return before[what] == after.get(what)


def words_of(what: str) -> str:
    """Return a forbidden move as a sentence for learners."""
    return say(MOVES[what].words) if what in MOVES else say("{object} stays as it is.", object=f"`{what}`")
