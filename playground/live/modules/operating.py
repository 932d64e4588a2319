"""``verb.…`` and ``bundle.verb``: operators' verbs, said beforehand and written into a text."""

from __future__ import annotations

from typing import Any

from playground.edits import branching
from playground.edits.operating import VerbWish, done, previewed
from playground.live.commands import Answer, Call, command
from playground.live.errors import CommandError
from playground.live.modules.objects import at_step
from playground.live.refusals import refusals
from playground.models import Draft
from playground.playback import sources
from playground.playback.playback import Playback
from playground.protocol.answers import TitledDraftWire, VerbSentenceWire
from playground.protocol.making import RewrittenWire
from playground.storage import store
from playground.wire import Encoded, encode
from scheduler_core.authoring.verbs import Asked
from scheduler_core.scenario.history import Moment


def _wish(payload: dict[str, Any], moment: Moment | None) -> VerbWish:
    asked = Asked(payload["verb"], tuple(payload["targets"].splitlines()), payload.get("value") or "")
    return VerbWish(asked, moment, payload.get("seconds") or "", payload.get("at") or "0")


@command(
    "verb.preview",
    answers=VerbSentenceWire,
    source="source",
    latest=1,
    verb="text",
    targets="text",
    value="text?",
    step="text",
    seconds="text?",
    at="text?",
    during="text?",
)
async def preview(call: Call) -> Answer:
    """Return what a verb would do at a step, in a sentence; nothing is stored."""

    def read(playback: Playback, index: int) -> Encoded:
        moment = Moment.parse(playback.trail.step(index), during=call.payload.get("during") == "evaluation")
        with refusals("step"):
            return Encoded(encode(previewed(playback, index, _wish(call.payload, moment))))

    return await at_step(call, read)


@command(
    "bundle.verb",
    answers=RewrittenWire,
    latest=1,
    large=True,
    text="text",
    verb="text",
    targets="text",
    value="text?",
    step="text?",
    seconds="text?",
    at="text?",
    during="text?",
)
async def do(call: Call) -> Answer:
    """Return a text with the operations of a verb; nothing is stored."""
    return await call.in_pool(_done, call.payload, call.moment())


@command(
    "branch.try",
    answers=TitledDraftWire,
    source="source",
    visitor=True,
    throttle="IMPORTS_PER_MINUTE",
    verb="text",
    targets="text",
    value="text?",
    step="text?",
    seconds="text?",
    at="text?",
    during="text?",
    title="text?",
)
async def attempt(call: Call) -> Answer:
    """Store a copy of the source with the operations of a verb as a draft of the visitor."""
    wish = _wish(call.payload, call.moment())
    title = store.clean_title(call.payload.get("title") or "")
    try:
        draft = await call.in_engine(_attempted, call.found(), call.visitor, wish, title)
    except branching.TooManyDraftsError as error:
        raise CommandError("branch.full", str(error)) from error
    return {"draft": draft.pk, "url": f"/p/{draft.pk}/", "title": draft.title}


def _attempted(source: sources.Source, visitor: str, wish: VerbWish, title: str) -> Draft:
    with refusals():
        made = done(source.text(), wish)
    return branching.branch(source, visitor, made["step"] or "", f"What if: {title}", made["text"])


def _done(payload: dict[str, Any], moment: Moment | None) -> dict[str, Any]:
    with refusals():
        return done(payload["text"], _wish(payload, moment))
