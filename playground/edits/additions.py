"""Adding several documents to a text at once: from the start, or as operations after a cycle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from playground.edits.drafts import written
from playground.edits.edit_operations import OBJECT_BYTES, ObjectError
from playground.storage import bundles
from scheduler_core.formats.difference import smallest_patch, without_nulls
from scheduler_core.formats.locate import find_lines
from scheduler_core.kubernetes.keys import Key, document_key
from scheduler_core.kubernetes.kinds import KINDS
from scheduler_core.kubernetes.manifests import Document, Manifest
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.kubernetes.readers import path_text, steps_of
from scheduler_core.scenario.history import Moment, manifest_at, placed, with_operations
from scheduler_core.scenario.history_entries import SCENARIO_KIND, creating, deleting, operations_of, patching
from scheduler_core.scenario.load import read_text
from scheduler_core.scenario.reconfiguration import OTHER, VERSIONS, is_configuration
from scheduler_core.scenario.scenario import Scenario

DOCUMENTS = 200  # added at once at a step; each becomes an operation
DOCUMENTS_FROM_START = 20_000
BYTES_FROM_START = 4 * 1024 * 1024
NAMED = 3  # of them, in the description of the edit
NAME = ("metadata", "name")


def added(text: str, documents: str, moment: Moment | None) -> dict[str, Any]:
    """Return the text with more documents, whether all of it was rewritten, and a description of the edit.

    Without a ``moment`` they exist from the start, otherwise they are created after its cycle. A document
    that configures the scheduler replaces the one in force; any other must have a name that is not taken.
    Raises BundleError for a text that cannot be parsed, ObjectError with lines of ``documents``,
    HistoryError, TooLargeError.
    """
    most = OBJECT_BYTES if moment is not None else BYTES_FROM_START
    if len(documents) > most:
        raise bundles.TooLargeError(f"What is added may have {most:,} characters.")
    scenario = bundles.parse([("", text)])
    new = _read(documents, DOCUMENTS if moment is not None else DOCUMENTS_FROM_START)
    check_taken(scenario, new, moment, documents)
    after = _from_start(scenario, new) if moment is None else put_in_force(scenario, new, moment).documents
    try:
        changed = written(text, scenario, after)
    except BundleError as error:
        raise _where_typed(error, after, new, documents) from error
    step = None if moment is None else str(moment)
    return {**changed, "step": step, "words": words_of(new)}


def words_of(documents: list[Document]) -> str:
    """Return the addition as a phrase: ``add PodGroup default/train and Job default/train``."""
    names = [_named(_key(document)) for document in documents]
    if len(names) > NAMED:
        names = [*names[: NAMED - 1], f"{len(names) - NAMED + 1} more"]
    return "add " + (f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0])


def check_taken(
    scenario: Scenario, new: list[Document], moment: Moment | None, text: str | None = None
) -> None:
    """Raise ObjectError, with lines of ``text``, for documents whose names are taken at ``moment``."""
    there = {_key(document) for document in scenario.documents}
    taken = []
    for number, document in enumerate(new, 1):
        key = _key(document)
        known = key in there if moment is None else manifest_at(scenario, key, moment) is not None
        if known and key[0] not in VERSIONS:
            taken.append((number, key))
    if not taken:
        return
    lines = find_lines(text, "yaml", [(number, NAME) for number, _ in taken]) if text else {}
    when = "" if moment is None else f" after {moment}"
    raise ObjectError(
        [
            Problem(f"{_named(key)} exists already{when}", "metadata.name", lines.get((number, NAME)), number)
            for number, key in taken
        ]
    )


def _read(text: str, most: int) -> list[Document]:
    if not text.strip():
        raise ObjectError([Problem("The text is empty: write manifests as YAML or JSON.", "", 1, 1)])
    try:
        read = list(read_text(text).documents)
    except BundleError as error:
        raise ObjectError(error.problems) from error
    if len(read) > most:
        raise ObjectError([Problem(f"must be at most {most:,} documents, not {len(read):,}", "", 1, 1)])
    problems = [
        Problem(f"a {str(kind)[:60]} cannot be added: it is not a cluster object", "kind", None, number)
        for number, document in enumerate(read, 1)
        if (kind := document.get("kind")) == SCENARIO_KIND or (kind not in KINDS and kind not in VERSIONS)
    ]
    if problems:
        raise ObjectError(problems)
    return read


def _key(document: Mapping[str, Any]) -> Key:
    key = document_key(document)
    return (key[0], key[0]) if is_configuration(document) else key


def _named(key: Key) -> str:
    return key[0] if key[0] in VERSIONS else f"{key[0]} {key[1]}"


def _from_start(scenario: Scenario, new: list[Document]) -> tuple[Document, ...]:
    after = list(scenario.documents)
    for document in new:
        kind = str(document.get("kind"))
        if not is_configuration(document):
            after.append(document)
            continue
        instead = {kind, OTHER.get(kind)}
        replaced = (n for n, old in enumerate(after) if old.get("kind") in instead and is_configuration(old))
        place = next(replaced, None)
        if place is None:
            after.append(document)
        else:
            after[place] = document
    return tuple(after)


def put_in_force(scenario: Scenario, new: list[Document], moment: Moment) -> Scenario:
    """Return the scenario with operations that create documents after a cycle; its objects are unchanged."""
    first = sorted(
        new, key=lambda document: not is_configuration(document)
    )  # configuration first, so that no object is created under the old one
    for entry in [entry for document in first for entry in _entries(scenario, document, moment)]:
        operations, _ = placed(scenario, moment, entry)
        scenario = replace(scenario, documents=with_operations(scenario.documents, operations))
    return scenario


def _entries(scenario: Scenario, document: Document, moment: Moment) -> list[Manifest]:
    """Return the operations that put a document into force at a moment."""
    kind = str(document.get("kind"))
    if not is_configuration(document):
        return [creating(document)]
    entries: list[Manifest] = []
    other = OTHER.get(kind)
    if other is not None and (old := manifest_at(scenario, (other, other), moment)) is not None:
        entries.append(deleting((other, other), old))
    before = manifest_at(scenario, (kind, kind), moment)
    if before is None:
        return [*entries, creating(document)]
    if without_nulls(before) == without_nulls(document):
        return entries
    return [*entries, patching((kind, kind), before, *smallest_patch(before, document))]


def _where_typed(
    error: BundleError, after: tuple[Document, ...], new: list[Document], text: str
) -> ObjectError:
    """Map an error's problems to the lines of the typed text; problems elsewhere keep only their path."""
    numbers = {_key(document): number for number, document in enumerate(new, 1)}
    operations = operations_of(after)
    found = []
    for problem in error.problems:
        steps = steps_of(problem.path)
        document: Mapping[str, Any] | None = None
        if len(steps) > 2 and steps[:2] == ("spec", "operations") and isinstance(steps[2], int):
            body = operations[steps[2]] if steps[2] < len(operations) else {}
            document, steps = (body.get("createOperation") or {}).get("object"), steps[5:]
        elif problem.document and problem.document <= len(after):
            document = after[problem.document - 1]
        number = numbers.get(_key(document)) if document else None
        if number is None:
            found.append(Problem(problem.message, problem.path))
        else:
            line = find_lines(text, "yaml", [(number, steps)]).get((number, steps))
            found.append(Problem(problem.message, path_text(steps), line, number))
    return ObjectError(found)
