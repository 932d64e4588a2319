"""``scenario.…``: opening a source, and forking it."""

from __future__ import annotations

import time
from typing import Any

from playground.calls.requests import OfSource, Text
from playground.edits import branches
from playground.live.commands import Answer, Call, Unwanted, command
from playground.live.errors import CommandError
from playground.models import Draft, Scenario
from playground.panels.descheduler import configured
from playground.panels.dump_record import recorded_answers
from playground.panels.triage import triage
from playground.panels.views import several
from playground.playback import sources
from playground.playback.deadlines import Superseded
from playground.playback.library import FIRST_SLICE_SECONDS
from playground.playback.playback import SLICE_SECONDS, Playback
from playground.protocol.answers import LocatedWire, MadeDraftWire, RecordedAnswersWire, TriageWire
from playground.protocol.sources import OpenedWire
from playground.runs.queue_choice import expected_cycles
from playground.storage import bundles, store
from playground.wire import Encoded, join
from scheduler_core.scenario.dump import is_dump

OPENINGS_AT_ONCE = 2  # enough for two tabs; a page opens one source
STEP_SECONDS = 1.0  # how long opening waits for the step of a link to be computed


class ScenarioOpen(OfSource):
    step: Text | None = None


@command(
    "scenario.open",
    ScenarioOpen,
    answers=OpenedWire,
    latest=OPENINGS_AT_ONCE,
    framed="opening",
    unveiled=True,
)
async def open_source(call: Call[ScenarioOpen]) -> Answer:
    """Return the tables of a source and the index of ``step``; the timeline follows as it is computed."""
    # The answer and the later pushes are of one revision, even while another tab saves the next one.
    call.source = source = call.found().pinned()
    frame = call.connection.frame
    locked = frame is not None and frame.locked
    step = call.payload.step or (frame.step if frame is not None else "")
    until = time.monotonic() + STEP_SECONDS

    def turn(playback: Playback, _unwanted: Unwanted) -> tuple[Playback, int, Encoded] | None:
        more = playback.advance(FIRST_SLICE_SECONDS)
        try:
            index = playback.locate(step) if step else 0
        except ValueError as error:
            raise CommandError("payload.invalid", str(error), field="step") from error
        if index is None and more and (locked or time.monotonic() < until):
            return None
        if frame is not None and locked:
            frame.index = len(playback) if index is None else index
        introduced = call.veil is None  # what introduces a scenario may tell how it goes on
        return playback, *_opened(
            source, playback, index, sought=bool(index is None and more), introduced=introduced
        )

    playback, seen, answer = await call.in_turns(turn)
    if not locked and call.veil is None:  # what grows is about other steps
        call.connection.watching.attend(source, playback, seen)
    return answer


def _opened(
    source: sources.Source, playback: Playback, index: int | None, *, sought: bool, introduced: bool
) -> tuple[int, Encoded]:
    """Return the answer and its number of cycles; ``sought``: the step may still be computed.

    ``introduced``: the scenario is introduced by its first comment.
    """
    private = bool({"link", "side"} & source.wire.keys())  # the scenario has no address of its own
    scenario, complete = playback.scenario, playback.complete  # read before the length: then nothing follows
    seen = len(playback)
    return seen, join(
        {
            "title": source.title,
            "about": source.introduction() if introduced else "",
            "source": source.wire,
            "revision": source.revision,
            "scenario": source.row.short if isinstance(source.row, Scenario) and not private else None,
            "nodes": playback.tables.node_text(),
            "pods": playback.tables.pod_text(),
            "cycles": seen,
            "complete": complete,
            "expected": None if playback.stored else expected_cycles(scenario),
            "end": playback.ended,
            "timed": playback.tables.timed,
            "release": scenario.release,
            "offered": scenario.offered,
            "schedulers": several(scenario.settings),
            "descheduler": configured(scenario),
            "stopped": playback.stopped,
            "policy": playback.profile.summary(),
            "warnings": bundles.problems_wire(scenario.warnings),
            "recorded": len(playback.facts.conditions),
            "dump": is_dump(scenario.documents),
            "summary": dict(scenario.summary or {}),
            # A link may point beyond the end, for example into a draft that was changed since.
            "index": None if sought else seen if index is None else index,
        }
    )


class StepLocate(OfSource):
    step: Text


@command("step.locate", StepLocate, answers=LocatedWire, latest=1, framed="opening", unveiled=True)
async def locate(call: Call[StepLocate]) -> Answer:
    """Return the index of a step as soon as it is computed; beyond the end, that of the last cycle."""
    step = call.payload.step

    def turn(playback: Playback, unwanted: Unwanted) -> dict[str, int] | None:
        until = time.monotonic() + SLICE_SECONDS
        try:
            while (index := playback.locate(step)) is None:
                if unwanted():
                    raise Superseded
                if not playback.advance(max(0.01, until - time.monotonic())):
                    index = playback.locate(step)
                    return {"index": len(playback) if index is None else index}
                if time.monotonic() > until:
                    return None
        except ValueError as error:
            raise CommandError("payload.invalid", str(error), field="step") from error
        return {"index": index}

    return await call.in_turns(turn)


@command("scenario.recorded", OfSource, answers=RecordedAnswersWire, latest=1)
async def recorded(call: Call[OfSource]) -> Answer:
    """Compare what a dump recorded about its pending pods with the answers; waits until they are computed."""

    def turn(playback: Playback, unwanted: Unwanted) -> dict[str, Any] | None:
        if unwanted():
            raise Superseded
        more = not playback.complete and playback.advance(SLICE_SECONDS)
        return None if more else recorded_answers(playback, unwanted)

    return await call.in_turns(turn)


@command("scenario.triage", OfSource, answers=TriageWire, latest=1)
async def triaged(call: Call[OfSource]) -> Answer:
    """Return the pods that end without a node by cause, and what a dump lacks; waits until it is computed."""

    def turn(playback: Playback, unwanted: Unwanted) -> dict[str, Any] | None:
        if unwanted():
            raise Superseded
        more = not playback.complete and playback.advance(SLICE_SECONDS)
        return None if more else triage(playback, unwanted)

    return await call.in_turns(turn)


@command("scenario.fork", OfSource, answers=MadeDraftWire, visitor=True, throttle="IMPORTS_PER_MINUTE")
async def fork(call: Call[OfSource]) -> Answer:
    """Copy a source into a new draft of the visitor."""
    draft = await call.in_engine(_fork, call.found(), call.visitor)
    return {"draft": draft.pk, "url": f"/p/{draft.pk}/"}


def _fork(source: sources.Source, visitor: str) -> Draft:
    if isinstance(source.row, Draft):
        files, based_on = source.files(), source.row.based_on
    else:
        files = [("", source.text())]
        [(kind, name)] = source.wire.items()
        based_on = f"{kind}:{name}"
    return store.create_draft(visitor, files, source.title, based_on, branches.origin_of(source))
