"""Changing the Policy, the KubeSchedulerConfiguration or the settings in a text.

Only that document is rewritten; at a step the change is an operation, which restarts the scheduler.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from playground.edits.additions import put_in_force
from playground.edits.drafts import written
from playground.storage import bundles
from scheduler_core.authoring.policy_edits import edited
from scheduler_core.authoring.v1_37_edits import V1_37_EDITS
from scheduler_core.authoring.v1_37_edits import edited as edited_v1_37
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.scenario.history import Moment, manifest_at, placed, with_operations
from scheduler_core.scenario.history_entries import deleting
from scheduler_core.scenario.reconfiguration import VERSIONS
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.settings.release import row_of


def configured(text: str, what: str, name: str, value: str, moment: Moment | None = None) -> dict[str, Any]:
    """Return ``text`` with one change to its configuration, and whether all of it had to be rewritten.

    Without a ``moment`` it is changed from the start, otherwise by an operation after that cycle. If the
    documents are not separated by ``---``, as in a List or in JSON, comments and formatting are lost.
    Raises BundleError for an invalid text or policy, TooLargeError, HistoryError, and EditError for a change
    that cannot be made.
    """
    scenario = bundles.parse([("", text)])
    before = scenario.documents if moment is None else in_force(scenario, moment)
    after = changed(scenario.release, before, what, name, value)
    if moment is not None:
        after = _at(scenario, moment, before, after)
    if after == scenario.documents:
        return {"text": text, "rewritten": False}
    return written(text, scenario, after)


def changed(
    release: str, documents: Sequence[Document], what: str, name: str, value: str
) -> tuple[Document, ...]:
    """Return documents with one change to what a release runs, in the form of its configuration.

    Raises EditError.
    """
    of_plugins = row_of(release).form == "plugins" and what in (*V1_37_EDITS, "gate")
    return (edited_v1_37 if of_plugins else edited)(documents, what, name, value)


def in_force(scenario: Scenario, moment: Moment | None) -> tuple[Document, ...]:
    """Return the documents that configure the scheduler at a moment; without one, at the start."""
    if moment is None:
        return tuple(document for document in scenario.documents if _configures(document))
    found = (manifest_at(scenario, (kind, kind), moment) for kind in VERSIONS)
    return tuple(document for document in found if document is not None)


def _configures(document: Document) -> bool:
    kind = document.get("kind")
    version = str(document.get("apiVersion", "v1"))
    return kind in VERSIONS and version.partition("/")[0] == VERSIONS[kind].partition("/")[0]


def _at(
    scenario: Scenario, moment: Moment, before: tuple[Document, ...], after: tuple[Document, ...]
) -> tuple[Document, ...]:
    """Add operations for the difference to the history: new, changed and deleted documents."""
    kinds = {str(document["kind"]) for document in after}
    scenario = put_in_force(scenario, [document for document in after if document not in before], moment)
    for document in before:
        key = (str(document["kind"]),) * 2
        if key[0] not in kinds and manifest_at(scenario, key, moment) is not None:
            operations, _ = placed(scenario, moment, deleting(key, document))
            scenario = replace(scenario, documents=with_operations(scenario.documents, operations))
    return scenario.documents
