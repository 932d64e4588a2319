"""Changing the history in a text: an object edited at a step, an operation removed, moved or copied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from playground.edits.descriptions import named, words_of
from playground.edits.drafts import written
from playground.storage import bundles
from scheduler_core import load
from scheduler_core.formats.difference import smallest_patch, without_nulls
from scheduler_core.formats.locate import find_lines
from scheduler_core.kubernetes.keys import Key, document_key
from scheduler_core.kubernetes.kinds import KINDS
from scheduler_core.kubernetes.manifests import Document, Manifest
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.kubernetes.readers import path_text, steps_of
from scheduler_core.run import is_timed
from scheduler_core.scenario.history import (
    HistoryError,
    Moment,
    check,
    manifest_at,
    moved,
    placed,
    placed_at,
    removed,
    with_operations,
)
from scheduler_core.scenario.history_entries import (
    ACTIONS,
    SCENARIO_KIND,
    creating,
    deleting,
    ids_of,
    operations_of,
    patching,
    target_of,
)
from scheduler_core.scenario.load import read_text
from scheduler_core.scenario.operations import LIVE
from scheduler_core.scenario.reconfiguration import VERSIONS
from scheduler_core.scenario.scenario import Scenario

LONGEST = 1e12  # seconds of virtual time, as the format allows
OBJECT_BYTES = 256 * 1024  # of one object's YAML


class ObjectError(ValueError):
    """The YAML typed for an object or an operation is invalid; lines refer to the typed text."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__(problems[0].message)

    @classmethod
    def of_whole(cls, error: BundleError) -> ObjectError:
        """Return the problems of the resulting text without lines, which do not refer to the typed text."""
        return cls([Problem(problem.message, problem.path) for problem in error.problems])


class MissingError(LookupError):
    """There is no such object at the step."""


class OperationEdit(Struct, frozen=True):
    """A requested edit: an action of :data:`ACTS`, at a moment, on a target or on the operation ``id``.

    ``object`` is YAML: a manifest, or for ``edit`` the operation's action. ``base`` is the object's manifest
    in the run, from which ``object`` was edited; it is only known in virtual time. ``landed`` is the cycle
    after which the operation has been applied so far. ``seconds`` of virtual time replace the moment at which
    the operation is to be applied; ``moment`` is then the one at which the object was viewed.
    """

    action: str
    moment: Moment | None = None
    target: str = ""
    object: str = ""
    base: str = ""
    id: str = ""
    landed: Moment | None = None
    seconds: str = ""


def operated(text: str, change: OperationEdit) -> dict[str, Any]:
    """Return the changed text, whether all of it had to be rewritten, and the operation's new position.

    Raises BundleError for a text that cannot be parsed, ObjectError for invalid input, MissingError,
    HistoryError, TooLargeError.
    """
    act = ACTS.get(change.action)
    if act is None:
        message = f"Unknown action {change.action[:40]!r}; it is one of {', '.join(ACTS)}."
        raise HistoryError(message, "action")
    if len(change.object) > OBJECT_BYTES:
        raise bundles.TooLargeError(f"An object's YAML may have {OBJECT_BYTES:,} characters.")
    scenario = bundles.parse([("", text)])
    operations, name, words = act(scenario, change)
    after = with_operations(scenario.documents, operations)
    try:
        return {**written(text, scenario, after), **_where(operations, name), "id": name, "words": words}
    except BundleError as error:
        raise _in_object(error, change, operations, name) from error


def _where(operations: list[Manifest], name: str) -> dict[str, Any]:
    names = ids_of(operations)
    if name not in names:
        return {"step": None}
    step = operations[names.index(name)].get("step", 0)
    minor = step.get("minor") if isinstance(step, Mapping) else None
    major = step["major"] if isinstance(step, Mapping) else step
    return {"step": None if minor is None else f"{major}.{minor}"}


# --- the actions: each returns the new entries, the operation's name, and a description of the edit

Made = tuple[list[Manifest], str, str]


def _create(scenario: Scenario, change: OperationEdit) -> Made:
    manifest = typed(change.object)
    entry = creating(manifest)
    key = target_of(entry)
    looked = change.moment or (None if change.seconds else _moment(change))
    if looked is not None and manifest_at(scenario, key, looked) is not None:
        raise ObjectError([Problem(f"{key[0]} {key[1]} exists already at this step", "metadata.name", 1, 1)])
    operations, name = _put(scenario, change, entry)
    return operations, name, f"create {named(key)}"


def _patch(scenario: Scenario, change: OperationEdit) -> Made:
    key = key_of_target(change.target)
    check(scenario, _moment(change))
    before = _found(scenario, key, change)
    after = kept(change.object, key)
    if without_nulls(before) == without_nulls(after):
        raise ObjectError([Problem("No change: this is the object's state at this step.")])
    kind, patch = smallest_patch(before, after)
    entry = patching(key, before, kind, patch)
    operations, name = _put(scenario, change, entry)
    return operations, name, words_of(entry, before)


def _delete(scenario: Scenario, change: OperationEdit) -> Made:
    key = key_of_target(change.target)
    check(scenario, _moment(change))
    before = _found(scenario, key, change)
    operations, name = _put(scenario, change, deleting(key, before))
    return operations, name, f"delete {named(key)}"


def _remove(scenario: Scenario, change: OperationEdit) -> Made:
    operations, gone = removed(scenario, change.id, change.landed)
    return operations, change.id, f"take out: {words_of(gone)}"


def _move(scenario: Scenario, change: OperationEdit) -> Made:
    if change.seconds:
        left, gone = removed(scenario, change.id, change.landed)
        without = replace(scenario, documents=with_operations(scenario.documents, left))
        operations, name = _put(without, change, {**gone, "id": change.id})
    else:
        without, there, gone = moved(scenario, change.id, change.landed, _moment(change))
        operations, name = placed(without, there, {"id": change.id, **gone})
    return operations, name, f"move: {words_of(gone)}"


def _duplicate(scenario: Scenario, change: OperationEdit) -> Made:
    """Insert a copy of an operation; an object that it creates is renamed, as its name is taken."""
    listed = operations_of(scenario.documents)
    names = ids_of(listed)
    if change.id not in names:
        raise HistoryError(f"There is no operation {change.id[:60]!r} in this scenario.", "id")
    entry = {name: value for name, value in listed[names.index(change.id)].items() if name in ACTIONS}
    if not entry:
        raise HistoryError("The history has exactly one end.", "id")
    if "createOperation" in entry and target_of(entry)[0] not in VERSIONS:
        taken = {document_key(d) for d in scenario.documents} | {
            target_of(e) for e in listed if "createOperation" in e
        }
        entry["createOperation"]["object"] = _renamed(entry["createOperation"]["object"], taken)
    if not change.seconds and change.moment is None:
        change = replace(change, moment=change.landed)
    operations, name = _put(scenario, change, entry)
    return operations, name, f"once more: {words_of(entry)}"


def _renamed(manifest: Manifest, taken: AbstractSet[Key]) -> Manifest:
    metadata = manifest.get("metadata") or {}
    base, _, number = str(metadata.get("name")).rpartition("-")
    stem = base if base and number.isdecimal() else str(metadata.get("name"))
    for count in range(2, len(taken) + 3):
        made = {**manifest, "metadata": {**metadata, "name": f"{stem}-{count}"}}
        if document_key(made) not in taken:
            return made
    raise AssertionError("as many names as there are objects, and one more, are tried")


def _edit(scenario: Scenario, change: OperationEdit) -> Made:
    operations = operations_of(scenario.documents)
    names = ids_of(operations)
    if change.id not in names:
        raise HistoryError(f"There is no operation {change.id[:60]!r} in this scenario.", "id")
    action = _yaml(change.object)
    given = [name for name in ACTIONS if name in action]
    if len(given) != 1 or len(action) != 1:
        raise ObjectError([Problem(f"must be one of {', '.join(ACTIONS)}, and nothing besides", "", 1, 1)])
    place = names.index(change.id)
    kept = {name: value for name, value in operations[place].items() if name not in ACTIONS}
    operations[place] = {"id": change.id, **kept, **action}
    return operations, change.id, words_of(operations[place])


ACTS: Mapping[str, Callable[[Scenario, OperationEdit], Made]] = {
    "create": _create,
    "patch": _patch,
    "delete": _delete,
    "remove": _remove,
    "move": _move,
    "duplicate": _duplicate,
    "edit": _edit,
}
"""The edits of a history."""


def _put(scenario: Scenario, change: OperationEdit, entry: Manifest) -> tuple[list[Manifest], str]:
    """Insert an entry at the requested second or, without one, at the requested moment."""
    if not change.seconds:
        return placed(scenario, _moment(change), entry)
    if not is_timed(scenario):
        message = "Times in seconds need virtual time: without it there is no clock."
        raise HistoryError(message, "seconds")
    try:
        seconds = float(change.seconds)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LONGEST:
        message = f"{change.seconds[:40]!r} is not a time: write virtual seconds, such as 12.5."
        raise HistoryError(message, "seconds")
    return placed_at(scenario, seconds, entry)


def _moment(change: OperationEdit) -> Moment:
    if change.moment is None:
        raise HistoryError("Specify the step, a cycle's major.minor such as 3.4.")
    return change.moment


def _found(scenario: Scenario, key: Key, change: OperationEdit) -> Manifest:
    if change.base and key[0] in LIVE and is_timed(scenario):
        before = typed(change.base)
        if target_of(creating(before)) == key:
            return before
    moment = _moment(change)
    found = manifest_at(scenario, key, moment)
    if found is None:
        raise MissingError(f"There is no {named(key)} after {moment}.")
    return found


def key_of_target(target: str) -> Key:
    """Parse a target such as ``Pod default/web-1``. Raises MissingError for a kind that is not simulated."""
    kind, _, name = target.partition(" ")
    if kind in VERSIONS:
        return kind, kind
    row = KINDS.get(kind)
    if row is None or not name:
        raise MissingError(
            f"{target[:80]!r} names no object: write a kind and a name, like Pod default/web-1."
        )
    return kind, f"default/{name}" if row.namespaced and "/" not in name else name


# --- the typed text


def kept(text: str, key: Key) -> Manifest:
    """Return the single manifest of a text, which must be that of ``key``. Raises ObjectError."""
    manifest = typed(text)
    if target_of(creating(manifest)) != key:
        message = (
            f"must remain {named(key)}: a different kind, name or namespace is a new object, which "
            "must be created"
        )
        raise ObjectError([Problem(message, "metadata.name", _line(text, "metadata.name"), 1)])
    return manifest


def typed(text: str) -> Manifest:
    """Return the single manifest of a text. Raises ObjectError with all of its problems."""
    documents = _documents(text)
    if len(documents) != 1:
        raise ObjectError([Problem(f"must be one manifest, not {len(documents)}", "", 1, 1)])
    kind = str(documents[0].get("kind"))
    if kind not in KINDS and kind not in VERSIONS:
        reason = (
            "a history is changed operation by operation" if kind == SCENARIO_KIND else "it changes nothing"
        )
        raise ObjectError(
            [Problem(f"{kind[:60]} is not a kind that operations support: {reason}", "kind", 1, 1)]
        )
    return dict(documents[0])


def _documents(text: str) -> tuple[Document, ...]:
    if not text.strip():
        raise ObjectError(
            [Problem("The text is empty: write the object's manifest as YAML or JSON.", "", 1, 1)]
        )
    try:
        return read_text(text).documents
    except BundleError as error:
        raise ObjectError(error.problems) from error


def _yaml(text: str) -> Manifest:
    """Parse a mapping that is not a manifest, as the spec of a manifest whose fields are not validated."""
    try:
        read = load([("", "apiVersion: podstep/v1\nkind: Namespace\nspec:\n" + _indented(text))]).documents
    except BundleError as error:
        raise ObjectError([_moved_up(problem) for problem in error.problems]) from error
    found = read[0].get("spec") if read else None
    if not isinstance(found, Mapping):
        raise ObjectError([Problem(f"must be one of {', '.join(ACTIONS)}", "", 1, 1)])
    return dict(found)


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())


def _moved_up(problem: Problem) -> Problem:
    return replace(problem, line=max(1, problem.line - 3) if problem.line else None)


def _line(text: str, path: str) -> int | None:
    steps = steps_of(path)
    syntax = "json" if text.lstrip()[:1] in ("{", "[") else "yaml"
    return find_lines(text, syntax, [(1, steps)]).get((1, steps))


def _in_object(
    error: BundleError, change: OperationEdit, operations: list[Manifest], name: str
) -> ObjectError:
    """Map problems to the typed text; problems that the edit causes in other operations name their ids."""
    names = ids_of(operations)
    own = names.index(name) if name in names else -1
    problems = []
    for problem in error.problems:
        steps = steps_of(problem.path)
        number = steps[2] if len(steps) > 2 and steps[:2] == ("spec", "operations") else None
        if isinstance(number, int) and number == own and change.object:
            rest = steps[3:] if change.action == "edit" else steps[5:]
            path = path_text(rest)
            problems.append(Problem(problem.message, path, _line(change.object, path), 1))
        elif isinstance(number, int) and 0 <= number < len(names) and number != own:
            other = f"the operation {names[number]} ({words_of(operations[number])})"
            problems.append(Problem(f"{other} would no longer work: {problem.message}"))
        else:
            problems.append(Problem(problem.message, problem.path))
    return ObjectError(problems)
