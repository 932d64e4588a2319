"""A run's final cluster as a kube-scheduler-simulator snapshot, with the decisions as annotations of pods."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.formats.snapshot import CONFIG, CONFIG_KIND, LISTS, is_own
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.recorded_decisions import RESULT_PREFIXES, SELECTED_NODE
from scheduler_core.record.cycle import Cycle

PREFIX = RESULT_PREFIXES[0]
ANNOTATION_BYTES = 256 * 1024  # per object, the API server's limit
ATTEMPTS = 8  # per pod in the history
PASSED = "passed"

Results = dict[str, str]


class ResultNotes:
    """Collects the attempts of a run as annotations, as the simulator writes them for a real scheduler.

    ``left_out`` counts the attempts whose results exceed half of an object's annotation limit, so that only
    their short results are kept.
    """

    def __init__(self) -> None:
        self._history: dict[str, list[Results]] = {}
        self.left_out = 0

    def take(self, cycle: Cycle) -> None:
        """Add one attempt, whose predicate matrix must have been recorded."""
        made = attempt_results(cycle)
        if _size(made) > ANNOTATION_BYTES // 2:
            self.left_out += 1
            made = {name: text for name, text in made.items() if len(text) <= 1024}
        attempts = self._history.setdefault(cycle.pod, [])
        attempts.append(made)
        while len(attempts) > 1 and (
            len(attempts) > ATTEMPTS or sum(map(_size, attempts)) > ANNOTATION_BYTES // 2
        ):
            del attempts[0]

    def annotations(self) -> dict[str, Results]:
        """Return the annotations of each pod, by ``namespace/name``: its last attempt and its history."""
        out = {}
        for pod, attempts in self._history.items():
            notes = dict(attempts[-1])
            history = json.dumps(attempts, separators=(",", ":"))
            if _size(notes) + len(history) <= ANNOTATION_BYTES:
                notes[PREFIX + "result-history"] = history
            out[pod] = notes
        return out


def _size(results: Results) -> int:
    return sum(len(name) + len(text) for name, text in results.items())


def attempt_results(cycle: Cycle) -> Results:
    """Return one attempt as annotations: a JSON text for each result, the node as plain text.

    Predicates and priorities appear under their own names in place of the simulator's plugins. A node's map
    stops at its first failure, as the evaluation did.
    """
    results: dict[str, Any] = {"filter-result": _filtered(cycle)}
    names = [cycle.nodes[node] for node in cycle.feasible.tolist()]
    for name, values in (
        ("score-result", {row.name: row.score if row.raw is None else row.raw for row in cycle.priorities}),
        ("finalscore-result", {row.name: row.weighted for row in cycle.priorities}),
    ):
        scores = {plugin: column.tolist() for plugin, column in values.items()}
        results[name] = {
            node: {plugin: str(column[place]) for plugin, column in scores.items()}
            for place, node in enumerate(names)
            if scores
        }
    if cycle.decision.nominated:
        results["postfilter-result"] = {cycle.decision.nominated: {"DefaultPreemption": "nominated"}}
    if cycle.node:
        results["bind-result"] = {"DefaultBinder": "success"}
    out = {
        PREFIX + name: json.dumps(value, separators=(",", ":")) for name, value in results.items() if value
    }
    if cycle.node:
        out[PREFIX + SELECTED_NODE] = cycle.node
    return out


def _filtered(cycle: Cycle) -> dict[str, dict[str, str]]:
    matrix = cycle.matrix
    if matrix is None:
        return {}
    reasons = [", ".join(texts) or "failed" for texts in matrix.reasons]
    out: dict[str, dict[str, str]] = {}
    for place, node in enumerate(cycle.nodes):
        found = {}
        for row, name in enumerate(matrix.order):
            code = int(matrix.codes[row, place])
            error = matrix.errors.get((row, place))
            if error is not None:
                found[name] = error
            elif code >= 0:
                found[name] = PASSED if code == 0 else reasons[code]
        out[node] = found
    return out


def snapshot(documents: Iterable[Document], notes: Mapping[str, Results]) -> dict[str, Any]:
    """Return a snapshot of manifests; ``notes`` are annotations of pods, by ``namespace/name``.

    Kinds not in :data:`LISTS` are omitted, as are the objects that every cluster has.
    """
    lists = {kind: name for name, (_, kind) in LISTS.items()}
    out: dict[str, Any] = {name: [] for name in ("pods", "nodes", "pvs", "pvcs", "storageClasses")}
    out |= {"priorityClasses": [], CONFIG: None, "namespaces": []}
    for document in documents:
        kind = str(document.get("kind"))
        metadata = document.get("metadata") or {}
        if kind == CONFIG_KIND:
            out[CONFIG] = dict(document)
        elif kind in lists and not is_own(kind, str(metadata.get("name"))):
            item = {key: value for key, value in document.items() if key not in ("apiVersion", "kind")}
            results = notes.get(f"{metadata.get('namespace') or 'default'}/{metadata.get('name')}")
            if kind == "Pod" and results:
                known = metadata.get("annotations") or {}
                old = {key: text for key, text in known.items() if not key.startswith(RESULT_PREFIXES)}
                item["metadata"] = {**metadata, "annotations": {**old, **results}}
            out[lists[kind]].append(item)
    return out
