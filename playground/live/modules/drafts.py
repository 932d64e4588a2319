"""``draft.…``: saving, watching, branching and sharing; for the owner only.

An edit names in ``base`` the revision it was based on; if another edit was saved since, it is
``draft.stale``.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from playground.edits import branching
from playground.live.commands import Answer, Call, command
from playground.live.errors import CommandError
from playground.models import Draft
from playground.playback import sources
from playground.playback.executor import in_storage
from playground.protocol.answers import NothingWire, SavedDraftWire, SharedScenarioWire, TitledDraftWire
from playground.protocol.drafts import RevisionWire
from playground.storage import store


def _draft(call: Call) -> Draft:
    row = call.found().row
    assert isinstance(row, Draft)
    return row


@command(
    "draft.save",
    answers=SavedDraftWire,
    source="draft",
    owner=True,
    large=True,
    text="text?",
    title="text?",
    base="index?",
)
async def save(call: Call) -> Answer:
    """Replace the draft's text, valid or not, or its title: half-written YAML is not lost."""
    given = (call.payload.get(name) for name in ("text", "title", "base"))
    row = await in_storage(store.save_draft, _draft(call), *given)
    return {"revision": row.revision}


@command("draft.watch", answers=RevisionWire, source="draft", owner=True)
async def watch(call: Call) -> Answer:
    """Return the draft's current revision, and push ``draft.changed`` from then on."""
    row = _draft(call)
    call.connection.watching.watch_draft(row)
    return store.draft_wire(row)


@command(
    "draft.branch",
    answers=TitledDraftWire,
    source="draft",
    owner=True,
    large=True,
    throttle="IMPORTS_PER_MINUTE",
    text="text",
    title="text?",
)
async def branch(call: Call) -> Answer:
    """Store a text, valid or not, as a branch of the draft, which is not changed."""
    title = store.clean_title(call.payload.get("title") or "")
    try:
        draft = await in_storage(
            branching.branch, call.found(), call.visitor, "", title, call.payload["text"]
        )
    except branching.TooManyDraftsError as error:
        raise CommandError("branch.full", str(error)) from error
    return {"draft": draft.pk, "url": f"/p/{draft.pk}/", "title": draft.title}


@command(
    "draft.share",
    answers=SharedScenarioWire,
    source="draft",
    owner=True,
    throttle="IMPORTS_PER_MINUTE",
    step="text?",
    tab="text?",
    base="index?",
)
async def share(call: Call) -> Answer:
    """Create an immutable scenario from the draft."""
    base, row = call.payload.get("base"), _draft(call)
    if base is not None and row.text_revision > base:
        raise store.StaleError(row)
    shown = {name: call.payload[name][:40] for name in ("step", "tab") if call.payload.get(name)}
    return await call.in_engine(_share, call.found(), call.visitor, shown)


def _share(source: sources.Source, visitor: str, shown: dict[str, str]) -> dict[str, Any]:
    shared = store.share(source.load(), visitor, text=source.text())
    query = f"?{urlencode(shown)}" if shown else ""
    return {
        "scenario": shared.scenario.short,
        "url": f"/s/{shared.scenario.short}/{query}",
        "deleteToken": shared.delete_token,
    }


@command("draft.delete", answers=NothingWire, source="draft", owner=True, base="index?")
async def delete(call: Call) -> Answer:
    """Delete a draft permanently; its branches remain, attached to its parent."""
    await in_storage(store.delete_draft, _draft(call), call.payload.get("base"))
    return {}
