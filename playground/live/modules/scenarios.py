"""``scenario.…``: opening a source, and making it one's own."""

from __future__ import annotations

import time
from typing import Any

from playground import bundles, sources, store
from playground.live.commands import Answer, Call, command
from playground.live.errors import CommandError
from playground.models import Draft, Scenario
from playground.playback.executor import in_engine
from playground.playback.library import FIRST_SLICE_SECONDS
from playground.playback.playback import Playback

STEP_SECONDS = 10.0  # how long opening waits for the step of a link to be computed


@command("scenario.open", source="source", step="text?")
async def open_source(call: Call) -> Answer:
    """Answer the tables of a source and where ``step`` is; the timeline follows as it is computed."""
    source = call.found()
    playback, index = await in_engine(_open, source, call.payload.get("step") or "")
    seen = len(playback)
    answer = await in_engine(_opened, source, playback, index, seen)
    call.connection.watching.attend(source, playback, seen)
    return answer


def _open(source: sources.Source, step: str) -> tuple[Playback, int]:
    playback = sources.open_playback(source)
    began = time.monotonic()
    if not playback.complete:
        playback.advance(FIRST_SLICE_SECONDS)
    try:
        while step and playback.resolve(step) is None and time.monotonic() - began < STEP_SECONDS:
            if not playback.advance(FIRST_SLICE_SECONDS):
                break
        found = playback.resolve(step) if step else 0
    except ValueError as error:
        raise CommandError("payload.invalid", str(error), field="step") from error
    # A link may point beyond the end, for example into a draft that was changed since.
    return playback, len(playback) if found is None else found


def _opened(source: sources.Source, playback: Playback, index: int, seen: int) -> dict[str, Any]:
    scenario = playback.scenario
    return {
        "title": source.title,
        "source": source.wire,
        "scenario": source.row.short if isinstance(source.row, Scenario) else None,
        "nodes": playback.tables.node_wire(),
        "pods": playback.tables.pod_wire(),
        "cycles": seen,
        "complete": playback.complete and seen == len(playback),
        "stopped": playback.stopped,
        "policy": playback.profile.summary(),
        "warnings": bundles.problems_wire(scenario.warnings),
        "summary": dict(scenario.summary or {}),
        "index": index,
    }


@command("scenario.fork", source="source", visitor=True, throttle="IMPORTS_PER_MINUTE")
async def fork(call: Call) -> Answer:
    """Copy a source into a new draft of the visitor's."""
    draft = await in_engine(_fork, call.found(), call.visitor)
    return {"draft": draft.pk, "url": f"/p/{draft.pk}/"}


def _fork(source: sources.Source, visitor: str) -> Draft:
    if isinstance(source.row, Draft):
        files, based_on = store.draft_files(source.row), source.row.based_on
    else:
        files = [("", bundles.bundle_text(source.load()))]
        [(kind, name)] = source.wire.items()
        based_on = f"{kind}:{name}"
    return store.create_draft(visitor, files, source.title, based_on)
