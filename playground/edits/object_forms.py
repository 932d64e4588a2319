"""The forms of single kinds: the documents that a form would add, and its errors, as the user types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playground.edits.additions import check_taken, words_of
from playground.edits.edit_operations import ObjectError
from playground.edits.podgroup_forms import classes_of
from playground.storage.bundles import core_limits
from scheduler_core import load_documents
from scheduler_core.authoring.forms import FORMS, ManifestForm, Problems, read
from scheduler_core.authoring.forms.pods import ZONE
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.kubernetes.keys import key_of
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import Node, Pod, Taint
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.scenario.history import Moment, objects_at
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.settings.settings import SETTINGS_KIND

SUGGESTED = 200  # per kind of suggestion


@dataclass(frozen=True, slots=True)
class UnknownKindError(LookupError):
    """No form for the kind."""

    kind: str

    def __str__(self) -> str:
        return f"No form for {self.kind[:40]!r}; there are {', '.join(FORMS)}."


def forms() -> list[dict[str, Any]]:
    """Return the definitions from which the browser builds the forms."""
    return [form.wire() for form in FORMS.values()]


def made(scenario: Scenario, moment: Moment | None, kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the documents of a form as YAML, errors by field, and the suggestions.

    ``moment`` None is the start. Raises UnknownKindError.
    """
    form = FORMS.get(kind)
    if form is None:
        raise UnknownKindError(kind)
    values, problems = read(form.fields, given)
    if not problems:
        problems = form.check(values)
    documents: list[Document] = []
    if not problems:
        documents += form.make(values)
        problems = _refused(scenario, moment, documents, form)
    known = suggestions(scenario, moment)
    problems += _missing(form, values, known, {name for name, _ in problems})
    return {
        "documents": write_yaml(documents).removeprefix("---\n") if documents else "",
        "count": len(documents),
        "words": words_of(documents) if documents and not problems else "",
        "errors": [{"field": name, "message": message} for name, message in problems],
        "notes": _notes(form, values, known) if not problems else [],
        "known": known,
    }


def _refused(
    scenario: Scenario, moment: Moment | None, documents: Sequence[Document], form: ManifestForm
) -> Problems:
    """Return by field the loader's errors for the documents, and names that are taken."""
    context = [d for d in scenario.documents if d.get("kind") in ("PriorityClass", SETTINGS_KIND)]
    named = {(d.get("kind"), (d.get("metadata") or {}).get("name")) for d in documents}
    context = [d for d in context if (d.get("kind"), (d.get("metadata") or {}).get("name")) not in named]
    found: Problems = []
    known: set[str] = set()
    try:
        load_documents([*context, *documents], expand=False, limits=core_limits(), presumed=scenario.release)
    except BundleError as error:
        for problem in error.problems:
            field = form.field_of(problem.path)
            if field not in known or not field:
                found.append((field, problem.message))
                known.add(field)
    try:
        check_taken(scenario, list(documents), moment)
    except ObjectError as error:
        if "name" not in known:
            more = len(error.problems) - 1
            found.append(("name", error.problems[0].message + (f", and {more} more" if more else "")))
    return found


def _missing(
    form: ManifestForm, values: Mapping[str, Any], known: Mapping[str, Any], wrong: set[str]
) -> Problems:
    """Return an error for a PriorityClass that does not exist: admission would reject its pods."""
    name = values.get("priorityClassName")
    there = [row[0] for row in known["priorityClasses"]]
    if not name or name in there or "priorityClassName" in wrong:
        return []
    del form
    listed = f": there are {', '.join(there[:5])}" if there else ""
    return [("priorityClassName", f"there is no PriorityClass {name[:63]!r}{listed}")]


def _notes(form: ManifestForm, values: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    """Return hints about values that are valid but surprising: a claim or class that did not exist yet."""
    notes = [
        f"There is no PersistentVolumeClaim {name} yet: its pods stay pending until there is."
        for name in values.get("claims") or ()
        if f"{values['namespace'] or 'default'}/{name}" not in known["claimKeys"]
        and len(known["claimKeys"]) < SUGGESTED
    ]
    chosen = values.get("storageClass")
    if chosen and chosen not in known["storageClasses"] and form.kind != "StorageClass":
        notes.append(f"There is no StorageClass {chosen} yet.")
    bound = values.get("nodeName")
    if bound and bound not in known["nodes"] and len(known["nodes"]) < SUGGESTED:
        notes.append(f"There is no node {bound} yet.")
    if form.kind != "NodePool" and "cpu" in values and not known["nodes"]:
        notes.append("There is no node yet: without a node pool no pod is placed.")
    return notes


# --- suggestions


def suggestions(scenario: Scenario, moment: Moment | None) -> dict[str, Any]:
    """Return existing names, labels and taints, for the fields that suggest them.

    Names are those at the moment; labels, taints and resources those of the objects from the start.
    """
    keys: dict[str, list[str]] = {}
    for kind, key in objects_at(scenario, moment) if moment is not None else map(key_of, scenario.objects):
        keys.setdefault(kind, []).append(key)
    nodes = [obj for obj in scenario.objects if isinstance(obj, Node)]
    pods = [obj for obj in scenario.objects if isinstance(obj, Pod)]
    claims = keys.get("PersistentVolumeClaim", [])
    namespaces = {key.partition("/")[0] for row in keys.values() for key in row if "/" in key}
    labels = _labels(node.meta.labels for node in nodes)
    return {
        "priorityClasses": classes_of(scenario, moment),
        "nodes": _first(keys.get("Node", [])),
        "zones": _first(node.meta.labels[ZONE] for node in nodes if ZONE in node.meta.labels),
        "labels": labels,
        "selectors": labels,
        "taints": _first(_taint(taint) for node in nodes for taint in node.taints),
        "resources": _first(f"{name}=1" for node in nodes for name in node.allocatable if "/" in name),
        "podLabels": _labels(pod.meta.labels for pod in pods),
        "claims": _first(key.partition("/")[2] for key in claims),
        "claimKeys": _first(claims),
        "volumes": _first(keys.get("PersistentVolume", [])),
        "storageClasses": _first(keys.get("StorageClass", [])),
        "namespaces": _first(["default", *sorted(namespaces - {"default"})]),
    }


def _first(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))[:SUGGESTED]


def _taint(taint: Taint) -> str:
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"


def _labels(each: Iterable[Mapping[str, str]]) -> list[str]:
    """Return labels as ``key=value``, the most frequent first."""
    counted: dict[str, int] = {}
    for labels in each:
        for key, value in labels.items():
            text = f"{key}={value}"
            if text in counted or len(counted) < SUGGESTED * 5:
                counted[text] = counted.get(text, 0) + 1
    return sorted(counted, key=lambda text: -counted[text])[:SUGGESTED]
