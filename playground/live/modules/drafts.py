"""``draft.…``: saving and sharing; only the owner may."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from playground import sources, store
from playground.live.commands import Answer, Call, command
from playground.models import Draft
from playground.playback.executor import in_storage


def _draft(call: Call) -> Draft:
    row = call.found().row
    assert isinstance(row, Draft)
    return row


@command("draft.save", source="draft", owner=True, large=True, text="text?", title="text?")
async def save(call: Call) -> Answer:
    """Replace the draft's text, be it readable or not, or its title: half-written YAML is not lost."""
    revision = await in_storage(
        store.save_draft, _draft(call), call.payload.get("text"), call.payload.get("title")
    )
    return {"revision": revision}


@command("draft.share", source="draft", owner=True, throttle="IMPORTS_PER_MINUTE", step="text?", tab="text?")
async def share(call: Call) -> Answer:
    """Make an immutable scenario of the draft."""
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


@command("draft.delete", source="draft", owner=True)
async def delete(call: Call) -> Answer:
    """Delete a draft for good; branches that were made of it stay, as its parent's."""
    await in_storage(store.delete_draft, _draft(call))
    return {}
