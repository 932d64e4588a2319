"""Storing a copy as a draft: only the documents of the visitor's text that differ are rewritten."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from playground.models import Draft
from playground.playback import sources
from playground.storage import bundles, store, texts
from scheduler_core.explain.trial import Copy
from scheduler_core.formats.splices import splice
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import BundleError
from scheduler_core.scenario.scenario import Scenario


def copy_of(
    source: sources.Source, visitor: str, made: Copy, title: str, origin: store.Origin | None = None
) -> Draft:
    """Store a copy as a draft of the visitor, ready to be opened."""
    [(kind, name)] = source.wire.items()
    based_on = f"{kind}:{name}"
    if isinstance(source.row, Draft):
        based_on = source.row.based_on
    text = texts.spliced(source.text(), source.load().documents, made.documents)
    files = [("", text or bundles.bundle_text(made.scenario))]
    draft = store.create_draft(visitor, files, title, based_on, origin)
    sources.seed(draft, replace(made.scenario, title=draft.title))
    return draft


def written(text: str, scenario: Scenario, after: tuple[Document, ...]) -> dict[str, Any]:
    """Return ``{"text", "rewritten"}``: the text of ``scenario`` with the documents ``after`` instead.

    Raises BundleError if these are invalid, and TooLargeError.
    """
    spared = splice(text, scenario.documents, after)
    if spared is not None:
        try:
            if bundles.parse([("", spared)]).documents == after:
                return {"text": spared, "rewritten": False}
        except BundleError:
            if texts.holds(spared, after):
                raise
        except bundles.TooLargeError:
            pass  # text besides the documents, such as comments, may be what makes it too large
    whole = bundles.bundle_text(replace(scenario, documents=after))
    bundles.parse([("", whole)])
    return {"text": whole, "rewritten": True}
