"""The form of a PodGroup and its workload: the documents it would add and its errors, as the user types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.edits.additions import check_taken, words_of
from playground.edits.edit_operations import ObjectError
from playground.limits import limit
from playground.storage.bundles import core_limits
from scheduler_core import load_documents
from scheduler_core.authoring.podgroups import (
    DEFAULTS,
    DIALECTS,
    complete,
    doubts,
    field_of,
    hints,
    manifests,
    wrong,
)
from scheduler_core.formats.yaml_writer import write_yaml
from scheduler_core.kubernetes.admission import SYSTEM_CLASSES
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.scenario.history import Moment, manifest_at
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.schedulers.v1_22.configuration.coscheduling_profile import (
    schedules_groups,
    with_coscheduling,
)
from scheduler_core.settings.release import CONFIGURATION_KIND
from scheduler_core.settings.settings import SETTINGS_KIND

CLASSES_SHOWN = 200
POLICY_KIND = "Policy"


def drafted(scenario: Scenario, moment: Moment | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the documents of a form as YAML, errors by field, and the available choices.

    ``moment`` None is the start. ``given`` has the fields of
    :data:`scheduler_core.authoring.podgroups.DEFAULTS`, and ``coscheduling``: whether to enable the plugin.
    """
    fields = complete(given)
    problems = wrong(fields)
    known = fields["dialect"] in DIALECTS
    in_force = _in_force(scenario, moment)
    enabled = schedules_groups(in_force, scenario.settings)
    made: list[Document] = []
    notes: list[str] = []
    configured: list[Document] = []
    if given.get("coscheduling") and not enabled and known:
        dialect = DIALECTS[fields["dialect"]]
        conversion = with_coscheduling(in_force, dialect.edition, scenario.settings, dialect.version)
        configured.append(conversion.document)
        notes += _conversion_notes(in_force, conversion.document, conversion.lost, conversion.notes)
    if not any(field in ("dialect", "workload", "replicas") for field, _ in problems):
        made += [*manifests(fields), *configured]
        problems += _refused(scenario, moment, made, fields, {field for field, _ in problems})
        notes += hints(fields)
    return {
        "documents": write_yaml(made).removeprefix("---\n") if made else "",
        "words": words_of(made) if made and not problems else "",
        "errors": [{"field": field, "message": message} for field, message in problems],
        "doubts": [{"field": field, "message": message} for field, message in doubts(fields)],
        "notes": notes,
        "defaults": dict(DEFAULTS),
        "dialects": [[row.id, row.api_version, list(row.lacks)] for row in DIALECTS.values()],
        "priorityClasses": classes_of(scenario, moment),
        "coscheduling": enabled,
        "configuration": str(in_force["kind"]) if in_force else "",
    }


def _in_force(scenario: Scenario, moment: Moment | None) -> Document | None:
    if moment is None:
        return scenario.policy
    found = (manifest_at(scenario, (kind, kind), moment) for kind in (CONFIGURATION_KIND, POLICY_KIND))
    return next((document for document in found if document is not None), None)


def _conversion_notes(
    previous: Document | None, made: Document, lost: tuple[str, ...], notes: tuple[str, ...]
) -> list[str]:
    version = str(made["apiVersion"]).partition("/")[2]
    if previous is None:
        sentences = [f"A KubeSchedulerConfiguration ({version}) with Coscheduling is added: {notes[0]}."]
    elif previous.get("kind") == CONFIGURATION_KIND:
        return [f"Coscheduling is added to the existing KubeSchedulerConfiguration: {notes[0]}."]
    else:
        sentences = [
            (f"The Policy becomes a KubeSchedulerConfiguration ({version}), because a Policy has no plugins.")
        ]
        sentences += [f"Not converted from the Policy: {what}." for what in lost]
        sentences += [f"Different from the Policy: {what}." for what in notes]
    return [*sentences, "The whole run is then in virtual time, with pods that wait at Permit."]


def _refused(
    scenario: Scenario,
    moment: Moment | None,
    made: list[Document],
    fields: Mapping[str, str],
    known: set[str],
) -> list[tuple[str, str]]:
    """Return the loader's errors for the documents by form field, and the form's own checks."""
    context = [d for d in scenario.documents if d.get("kind") in ("PriorityClass", SETTINGS_KIND)]
    named = {name for name, _ in classes_of(scenario, moment)}
    found: list[tuple[str, str]] = []
    try:
        load_documents([*context, *made], expand=False, limits=core_limits(), presumed=scenario.release)
    except BundleError as error:
        for problem in error.problems:
            number = (problem.document or 0) - len(context) - 1
            kind = made[number].get("kind") if 0 <= number < len(made) else ""
            field = "coscheduling" if kind == CONFIGURATION_KIND else field_of(problem.path)
            if field not in known:
                found.append((field, problem.message))
                known.add(field)
    try:
        check_taken(scenario, made, moment)
    except ObjectError as error:
        if "name" not in known:
            found.append(("name", error.problems[0].message))
    chosen = fields["priorityClassName"]
    if chosen and chosen not in named and "priorityClassName" not in known:
        found.append(("priorityClassName", f"there is no PriorityClass {chosen[:80]!r} at this step"))
    if int(fields["replicas"]) > limit("PODS"):
        found.append(("replicas", f"must be at most {limit('PODS'):,}"))
    return found


def classes_of(scenario: Scenario, moment: Moment | None) -> list[list[Any]]:
    """Return the names and values of the existing PriorityClasses, the built-in system classes last."""
    names = [d["metadata"]["name"] for d in scenario.documents if d.get("kind") == "PriorityClass"]
    for operation in scenario.operations if moment is not None else ():
        if operation.kind == "PriorityClass" and operation.key not in names:
            names.append(operation.key)
    rows: list[list[Any]] = []
    for name in names[:CLASSES_SHOWN]:
        manifest = _class(scenario, str(name), moment)
        if manifest is not None:
            rows.append([str(name), manifest.get("value")])
    return rows + [[name, value] for name, value in SYSTEM_CLASSES.items()]


def _class(scenario: Scenario, name: str, moment: Moment | None) -> Mapping[str, Any] | None:
    return manifest_at(scenario, ("PriorityClass", name), moment or Moment(1, 0))
