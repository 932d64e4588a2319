"""``verb.…`` and ``bundle.verb``: operators' verbs, said beforehand and written into a text."""

from __future__ import annotations

from typing import Any

from playground.calls.requests import OfSource, Request, Text
from playground.edits import branches
from playground.edits.verbs import VerbWish, done, previewed
from playground.live.commands import Answer, Call, command
from playground.live.errors import CommandError
from playground.live.modules.objects import at_step
from playground.live.refusals import refusals
from playground.models import Draft
from playground.playback import sources
from playground.playback.playback import Playback
from playground.protocol.answers import TitledDraftWire, VerbSentenceWire
from playground.protocol.generators import RewrittenWire
from playground.storage import store
from playground.wire import Encoded, encode
from scheduler_core.authoring.verbs import Asked
from scheduler_core.scenario.history import Moment


def _wish(payload: _VerbOfSource | BundleVerb, moment: Moment | None) -> VerbWish:
    asked = Asked(payload.verb, tuple(payload.targets.splitlines()), payload.value or "")
    return VerbWish(asked, moment, payload.seconds or "", payload.at or "0")


class _VerbOfSource(OfSource):
    verb: Text
    targets: Text
    value: Text | None = None
    seconds: Text | None = None
    at: Text | None = None
    during: Text | None = None


class VerbPreview(_VerbOfSource, kw_only=True):
    step: Text


@command("verb.preview", VerbPreview, answers=VerbSentenceWire, latest=1)
async def preview(call: Call[VerbPreview]) -> Answer:
    """Return what a verb would do at a step, in a sentence; nothing is stored."""

    def read(playback: Playback, index: int) -> Encoded:
        moment = Moment.parse(playback.trail.step(index), during=call.payload.during == "evaluation")
        with refusals("step"):
            return Encoded(encode(previewed(playback, index, _wish(call.payload, moment))))

    return await at_step(call, read)


class BundleVerb(Request):
    text: Text
    verb: Text
    targets: Text
    value: Text | None = None
    step: Text | None = None
    seconds: Text | None = None
    at: Text | None = None
    during: Text | None = None


@command("bundle.verb", BundleVerb, answers=RewrittenWire, latest=1, large=True)
async def do(call: Call[BundleVerb]) -> Answer:
    """Return a text with the operations of a verb; nothing is stored."""
    return await call.in_pool(_done, call.payload, call.moment())


class BranchTry(_VerbOfSource):
    step: Text | None = None
    title: Text | None = None


@command("branch.try", BranchTry, answers=TitledDraftWire, visitor=True, throttle="IMPORTS_PER_MINUTE")
async def attempt(call: Call[BranchTry]) -> Answer:
    """Store a copy of the source with the operations of a verb as a draft of the visitor."""
    wish = _wish(call.payload, call.moment())
    title = store.clean_title(call.payload.title or "")
    try:
        draft = await call.in_engine(_attempted, call.found(), call.visitor, wish, title)
    except branches.TooManyDraftsError as error:
        raise CommandError("branch.full", str(error)) from error
    return {"draft": draft.pk, "url": f"/p/{draft.pk}/", "title": draft.title}


def _attempted(source: sources.Source, visitor: str, wish: VerbWish, title: str) -> Draft:
    with refusals():
        made = done(source.text(), wish)
    return branches.branch(source, visitor, made["step"] or "", f"What if: {title}", made["text"])


def _done(payload: BundleVerb, moment: Moment | None) -> dict[str, Any]:
    with refusals():
        return done(payload.text, _wish(payload, moment))
