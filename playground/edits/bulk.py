"""Changing many nodes at once, selected by labels, by a name pattern or one by one, as a single edit."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from playground.edits.drafts import written
from playground.edits.edit_operations import ObjectError
from playground.pool.jobs import pool_job
from playground.storage import bundles
from scheduler_core.authoring.forms.fields import TYPES, FieldError, FormField
from scheduler_core.authoring.revisions import RevisionError, revised
from scheduler_core.formats.difference import smallest_patch, without_nulls
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.kubernetes.keys import document_key
from scheduler_core.kubernetes.manifests import Document, Manifest
from scheduler_core.kubernetes.model import Requirement
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.kubernetes.selectors import requirement_matches
from scheduler_core.scenario.history import (
    Moment,
    all_placed,
    check,
    manifest_at,
    objects_at,
    with_operations,
)
from scheduler_core.scenario.history_entries import deleting, patching
from scheduler_core.scenario.scenario import Scenario

AT_ONCE = 500  # nodes changed by operations, one operation each
NAMED = 200  # nodes listed by name
SHOWN = 5  # nodes whose diff is shown
LINES = 40  # of one node's diff
CONTEXT = 2  # unchanged lines around a change

DELETE = "delete"
CHANGES: Mapping[str, str] = {
    "taint": "taint {count}: {key}",
    "untaint": "remove the taint {key} from {count}",
    "label": "label {count}: {key}={value}",
    "unlabel": "remove the label {key} from {count}",
    "cordon": "cordon {count}",
    "uncordon": "uncordon {count}",
    "allocatable": "set what is allocatable on {count}: {key} {value}",
    "condition": "set a condition on {count}: {key} {value}",
    DELETE: "delete {count}",
}
"""The changes that can be made to many nodes, and their descriptions."""

TAKING_AWAY = ("untaint", "unlabel")  # of something that a node may lack


class BulkError(ValueError):
    """The nodes cannot be selected, or the change cannot be made; ``field`` names the invalid field."""

    def __init__(self, text: str, field: str) -> None:
        self.field = field
        super().__init__(text)


class Bulk(Struct, frozen=True):
    """A requested change: which nodes, and what is done to them.

    ``by`` is selector, glob or names (one per line); ``what`` one of :data:`CHANGES`, with the ``key`` and
    ``value`` of :func:`scheduler_core.authoring.revisions.revised`.
    """

    by: str
    which: str
    what: str
    key: str = ""
    value: str = ""


BulkEdit = tuple[
    str, Manifest, Manifest | None
]  # a node's name, its manifest before and after; None: deleted


def previewed(scenario: Scenario, moment: Moment | None, bulk: Bulk) -> dict[str, Any]:
    """Return which nodes are selected, how many change, and the diffs of the first few."""
    nodes = _nodes(scenario, moment)
    error = {"field": "", "message": ""}
    chosen: list[str] = []
    changes: list[BulkEdit] = []
    try:
        chosen = _chosen(nodes, bulk, _known(scenario))
        changes = _changes(nodes, chosen, bulk)
        _bounded(changes, moment)
    except BulkError as wrong:
        error = {"field": wrong.field, "message": str(wrong)}
    return {
        "nodes": len(nodes),
        "chosen": len(chosen),
        "names": chosen[:NAMED],
        "absent": _absent(nodes, bulk, _known(scenario))[:NAMED],
        "changed": len(changes),
        "words": _words(bulk, len(changes)) if changes and not error["message"] else "",
        "difference": [
            {"name": name, "lines": _difference(before, after)} for name, before, after in changes[:SHOWN]
        ],
        "errors": [error] if error["message"] else [],
    }


@pool_job
def changed(text: str, bulk: Bulk, moment: Moment | None) -> dict[str, Any]:
    """Return the text with the change: in the manifests, or with a ``moment`` as operations after its cycle.

    Raises BundleError for a text that cannot be parsed, BulkError, HistoryError, TooLargeError, and
    ObjectError if the changed text would be invalid.
    """
    scenario = bundles.parse([("", text)])
    if moment is not None:
        check(scenario, moment)
    nodes = _nodes(scenario, moment)
    changes = _changes(nodes, _chosen(nodes, bulk, _known(scenario)), bulk)
    _bounded(changes, moment)
    if not changes:
        raise BulkError(
            "Nothing would change: no node is selected, or all are in that state already.", "which"
        )
    after = _from_start(scenario, changes) if moment is None else _at_moment(scenario, changes, moment)
    try:
        made = written(text, scenario, after)
    except BundleError as error:
        raise ObjectError.of_whole(error) from error
    step = None if moment is None else str(moment)
    return {**made, "step": step, "words": _words(bulk, len(changes))}


def _words(bulk: Bulk, count: int) -> str:
    nodes = f"{count:,} node{'s' if count != 1 else ''}"
    return CHANGES[bulk.what].format(count=nodes, key=bulk.key.strip()[:60], value=bulk.value.strip()[:40])


def _bounded(changes: list[BulkEdit], moment: Moment | None) -> None:
    if moment is not None and len(changes) > AT_ONCE:
        raise BulkError(
            f"After a cycle at most {AT_ONCE} nodes are changed at once, not {len(changes):,}: each is an "
            "operation of its own. Change them from the start, or choose fewer.",
            "which",
        )


# --- selection of the nodes


def _nodes(scenario: Scenario, moment: Moment | None) -> dict[str, Manifest]:
    """Return the manifests of the nodes that exist at the moment, by name."""
    given = {
        document_key(document)[1]: document
        for document in scenario.documents
        if document.get("kind") == "Node"
    }
    if moment is None:
        return {name: dict(document) for name, document in given.items()}
    altered = {operation.key for operation in scenario.operations if operation.kind == "Node"}
    found: dict[str, Manifest] = {}
    for kind, name in objects_at(scenario, moment):
        if kind != "Node":
            continue
        if name in given and name not in altered:
            found[name] = dict(given[name])
        elif (manifest := manifest_at(scenario, ("Node", name), moment)) is not None:
            found[name] = manifest
    return found


def _known(scenario: Scenario) -> frozenset[str]:
    """Return the names of all nodes that exist at some moment."""
    given = (document_key(one)[1] for one in scenario.documents if one.get("kind") == "Node")
    return frozenset((*given, *(one.key for one in scenario.operations if one.kind == "Node")))


def _absent(nodes: Mapping[str, Manifest], bulk: Bulk, known: frozenset[str]) -> list[str]:
    """Return the nodes chosen by name that exist only before or after the moment."""
    return sorted(_lines(bulk) & known - nodes.keys()) if bulk.by == "names" else []


def _lines(bulk: Bulk) -> set[str]:
    return {line.strip() for line in bulk.which.splitlines()} - {""}


def _chosen(nodes: Mapping[str, Manifest], bulk: Bulk, known: frozenset[str]) -> list[str]:
    """Return the names of the selected nodes, in the order of the cluster.

    ``known`` are the nodes that may be chosen by name: one that does not exist at the moment is left out.
    """
    which = bulk.which.strip()
    if bulk.by == "selector":
        requirements = _requirements(which)
        return [
            name
            for name, node in nodes.items()
            if all(requirement_matches(r, _labels(node)) for r in requirements)
        ]
    if bulk.by == "glob":
        patterns = [pattern for pattern in re.split(r"[,\s]+", which) if pattern][:50]
        return [name for name in nodes if any(fnmatchcase(name, pattern) for pattern in patterns)]
    if bulk.by == "names":
        wanted = _lines(bulk)
        missing = sorted(wanted - nodes.keys())
        unknown = [name for name in missing if name not in known]
        if unknown or (missing and len(missing) == len(wanted)):
            raise BulkError(f"There is no node {(unknown or missing)[0][:63]} at this step.", "which")
        return [name for name in nodes if name in wanted]
    raise BulkError(f"Nodes are selected by selector, glob or names, not by {bulk.by[:20]!r}.", "by")


def _requirements(text: str) -> list[Requirement]:
    try:
        found = TYPES["selector"](text, FormField("which", "")) if text else []
    except FieldError as error:
        raise BulkError(str(error), "which") from error
    return [Requirement(r["key"], r["operator"], tuple(r.get("values", ()))) for r in found]


def _labels(node: Manifest) -> Mapping[str, str]:
    labels = (node.get("metadata") or {}).get("labels") or {}
    return {str(key): str(value) for key, value in labels.items()}


# --- the change


def _changes(nodes: Mapping[str, Manifest], chosen: list[str], bulk: Bulk) -> list[BulkEdit]:
    """Return the edits of the selected nodes; nodes that would not change are left out."""
    if bulk.what not in CHANGES:
        known = ", ".join(CHANGES)
        raise BulkError(f"Unknown change {bulk.what[:40]!r}; it is one of {known}.", "what")
    if bulk.what == DELETE:
        return [(name, nodes[name], None) for name in chosen]
    found: list[BulkEdit] = []
    for name in chosen or [""]:
        before = nodes.get(name) or {"kind": "Node", "metadata": {"name": "none"}}
        try:
            after = revised(before, bulk.what, bulk.key, bulk.value)
        except RevisionError as error:
            if bulk.what in TAKING_AWAY and bulk.key.strip():
                continue
            raise BulkError(
                str(error), "key" if bulk.what not in ("allocatable", "condition") else "value"
            ) from error
        if name and without_nulls(before) != without_nulls(after):
            found.append((name, before, after))
    return found


def _difference(before: Manifest, after: Manifest | None) -> list[list[str]]:
    """Return a YAML diff as [sign, text]: ``-`` removed, ``+`` added, blank unchanged, ``…`` omitted."""
    old = write_yaml([before]).splitlines()[1:]
    new = write_yaml([after]).splitlines()[1:] if after is not None else []
    lines: list[list[str]] = []
    for line in list(difflib.unified_diff(old, new, lineterm="", n=CONTEXT))[2:]:
        if line.startswith("@@"):
            if lines:
                lines.append(["…", ""])
        else:
            lines.append([line[:1], line[1:]])
    return lines if len(lines) <= LINES else [*lines[:LINES], ["…", f"{len(lines) - LINES} more lines"]]


# --- the changed documents


def _from_start(scenario: Scenario, changes: list[BulkEdit]) -> tuple[Document, ...]:
    """Return the documents with the changed nodes."""
    made = {name: after for name, _, after in changes}
    documents: list[Document] = []
    for document in scenario.documents:
        name = document_key(document)[1] if document.get("kind") == "Node" else None
        if name not in made:
            documents.append(document)
        elif (after := made[name]) is not None:
            documents.append(after)
    return tuple(documents)


def _at_moment(scenario: Scenario, changes: list[BulkEdit], moment: Moment) -> tuple[Document, ...]:
    """Return the documents with one operation per node, all after the same cycle."""
    operations = all_placed(scenario, moment, [_entry(*change) for change in changes])
    return with_operations(scenario.documents, operations)


def _entry(name: str, before: Manifest, after: Manifest | None) -> Manifest:
    key = ("Node", name)
    if after is None:
        return deleting(key, before)
    return patching(key, before, *smallest_patch(before, after))
