"""A branch of a source with another Policy or KubeSchedulerConfiguration, given as a text of its own."""

from __future__ import annotations

from playground.edits import branches, policies
from playground.edits.drafts import written
from playground.edits.edit_operations import OBJECT_BYTES
from playground.limits import limit
from playground.models import Draft
from playground.playback import sources
from playground.storage import bundles, store
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.settings.settings import SETTINGS_KIND

EMPTY = "It contains no document: write one Policy or KubeSchedulerConfiguration."


def kind_of(text: str) -> str:
    """Return the kind of the configuration in a text.

    Raises BundleError with the lines of the text for what is not one, and TooLargeError.
    """
    return str(_configuration(text)["kind"])


def reconfigured(source: sources.Source, visitor: str, text: str) -> Draft:
    """Store a branch of a source as a draft of the visitor, whose configuration is that of ``text``.

    What the bundle configures is replaced, an operation that changes it later is not. Raises
    TooManyDraftsError, BundleError, and the errors of reading and storing.
    """
    document = _configuration(text)
    origin = branches.origin_of(source, words=(f"{document['kind']} replaced",))
    if Draft.objects.filter(owner=visitor, family=origin.family).count() >= limit("BRANCHES_PER_FAMILY"):
        raise branches.TooManyDraftsError
    scenario = source.load()
    before = scenario.documents
    place = next((n for n, one in enumerate(before) if _configures(one)), len(before))
    kept = [one for one in before[place:] if not _configures(one)]
    after = (*before[:place], document, *kept)
    own = source.text()
    if after != before:
        own = written(own, scenario, after)["text"]
    based_on = source.row.based_on if isinstance(source.row, Draft) else branches.key_of(source)
    title = f"{source.title or 'Untitled'}, another {document['kind']}"
    return store.create_draft(visitor, [("", own)], title, based_on, origin)


def _configures(document: Document) -> bool:
    kind = document.get("kind")
    return kind != SETTINGS_KIND and kind in policies.KINDS


def _configuration(text: str) -> Document:
    if len(text) > OBJECT_BYTES:
        raise bundles.TooLargeError(f"A configuration may have {OBJECT_BYTES:,} characters.")
    document = policies.read_one(text)
    if document is None:
        raise BundleError([Problem(EMPTY, line=1)])
    return document
