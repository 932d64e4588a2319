"""Branches that a row of an audit opens: its operations, or the pods to be scheduled once more."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from playground.calls.faults import RequestFieldError
from playground.edits import branches
from playground.edits.drafts import written
from playground.models import Draft
from playground.playback import sources
from playground.storage import bundles, store
from scheduler_core.authoring.verb_targets import VerbError
from scheduler_core.kubernetes.conversion import converted
from scheduler_core.scenario.history import all_placed_at, with_operations
from scheduler_core.scenario.load import load_documents
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.settings.release import BY_PLUGINS, DEFAULT_RELEASE
from scheduler_core.studies.audit.operations import operations
from scheduler_core.studies.audit.policies import MOST_ALLOCATED, documents_again
from scheduler_core.studies.audit.row import Opening
from scheduler_core.studies.audit.variation import with_settings

VERBS = ("fail", "lose", "drain", "upgrade", "restart", "scale")
MOST_TARGETS = 200
LATEST = 10**7  # seconds of virtual time
TITLE = 120  # characters of a title


def opening_of(given: Any) -> Opening:
    """Return what a client wants to open, as a row of an audit has it. Raises RequestFieldError."""
    try:
        found = converted(given, Opening)
    except msgspec.ValidationError as error:
        raise RequestFieldError("opens", f"This is not what a row opens: {error}.") from error
    acts = (
        found.kind == "verb"
        and found.under in ("", DEFAULT_RELEASE)
        and found.verb in VERBS
        and 0 < len(found.targets) <= MOST_TARGETS
    )
    again = found.kind == "again" and found.value in (MOST_ALLOCATED, *BY_PLUGINS)
    if not (acts or again) or not 0 <= found.second <= LATEST:
        raise RequestFieldError("opens", "Only what a row of an audit opens as a branch can be opened here.")
    return found


def opened(source: sources.Source, visitor: str, opening: Opening, title: str) -> Draft:
    """Store a branch with what a row describes.

    Raises TooManyDraftsError, VerbError, HistoryError, BundleError, StaleError and TooLargeError.
    """
    scenario = source.load()
    text = _acted(source.text(), scenario, opening) if opening.kind == "verb" else _again(scenario, opening)
    return branches.branch(source, visitor, "", store.clean_title(title[:TITLE]), text)


def _acted(text: str, scenario: Scenario, opening: Opening) -> str:
    if opening.under:
        documents = tuple(with_settings(scenario.documents, scheduler=opening.under))
        text, scenario = written(text, scenario, documents)["text"], load_documents(documents)
    if not scenario.row.has_controllers and not scenario.lives:
        raise VerbError(f"Under {scenario.release} no controllers run: choose {DEFAULT_RELEASE}")
    made = operations(scenario.documents, opening.verb, opening.targets, opening.value, opening.second)
    entries, _ = all_placed_at(scenario, [(one["time"], one) for one in made])
    answer = written(text, scenario, with_operations(scenario.documents, entries))
    return str(answer["text"])


def _again(scenario: Scenario, opening: Opening) -> str:
    documents = tuple(documents_again(scenario, opening.value))
    return bundles.bundle_text(replace(scenario, documents=documents))
