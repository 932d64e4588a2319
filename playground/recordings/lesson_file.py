"""A lesson as one HTML file: its stops, verdicts on what is usually answered, its stages as recordings."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs

from django.template.loader import render_to_string
from django.utils import translation
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from playground.api.lessons import shown
from playground.courseware import AnswerKey, Lesson, Stop, bundle_of, check, hint, key_of
from playground.lessons import catalogue, stages, stop_pages
from playground.live.halls import Veil
from playground.playback.sources import Source
from playground.pool.jobs import pool_job
from playground.recordings import document
from playground.recordings.document import HeldText, RecordingPage
from playground.recordings.recorder import Recording, check_size, record
from playground.recordings.scenario_file import RecordedScenario, source_of
from playground.serving.languages import current
from playground.storage import bundles
from playground.views import learn
from playground.wire import encode

SCRIPT, SHEET = "js/recorded/lesson.ts", "css/sheets/learn.css"
HINTS = (1, 2, 3)
LISTS = ("nodes", "pods")  # forms whose answer is any number of the options
HOME = "#"  # the address of a stop is its key behind this


class VeiledScenario(Struct, frozen=True):
    """A scenario as far as a veil lets it be seen: its recording, and that one's place among all."""

    source: Source
    page: RecordingPage
    recording: Recording
    veil: Veil | None
    place: int


@pool_job
def lesson_file(of: Lesson, language: str, server: str = "") -> str:
    """Return a lesson's HTML file. Raises LessonError, and TooLongError beyond a recording's bounds."""
    with translation.override(language):
        return _RecordedLesson(of, server).text()


class _RecordedLesson:
    def __init__(self, of: Lesson, server: str) -> None:
        self.of, self.server = of, server
        self.played: dict[tuple[str, stages.StageExtent | None], VeiledScenario] = {}
        self.stages: dict[str, VeiledScenario] = {}  # by address

    def text(self) -> str:
        stops = {at.key: self._context(at) for at in self.of.stops}
        first = next(iter(stops.values()))
        played = list(self.played.values())
        entries = [(SCRIPT, SHEET), (document.SCRIPT, document.SHEET)]
        own, frame = document.assets(entries, charts=any(one.recording.charts for one in played))
        lesson = {
            "stops": {key: _stop(context) for key, context in stops.items()},
            "done": render_to_string("lesson_file_done.html", first),
            "answers": {at.key: _answers(self.of, at, stops[at.key]) for at in self.of.stops},
            "stages": {address: _stage(address, of, frame) for address, of in self.stages.items()},
            "address": f"/learn/{self.of.slug}/",
        }
        texts = {"script": own.script, "charts": own.charts, "lesson": encode(lesson)}
        texts |= {"stage-script": frame.script, "stage-sheet": frame.sheet}
        held = [HeldText(name, document.packed(text)) for name, text in texts.items() if text]
        recordings = [document.held(one.recording, one.page, one.source.wire) for one in played]
        context = {**first, "server": self.server, "recordings": recordings}
        return document.rendered("lesson_file.html", own, held, context)

    def _context(self, at: Stop) -> dict[str, Any]:
        """Return the context of a stop's page, and record its stages."""
        page = stop_pages.stop_page(self.of, at.key)
        text = bundle_of(self.of, at)
        until = {"open": page.moments.veil, "shown": page.moments.limit}
        played = {name: self._played(text, extent) for name, extent in until.items()}
        stage = stages.stage_of(played["open"].source.wire["scenario"], at, page.moments)
        self.stages |= {stage.open: played["open"], stage.shown: played["shown"]}
        return {**learn.stop_context(self.of, at, page, stage, home=HOME), "recorded": True}

    def _played(self, text: str, until: stages.StageExtent | None) -> VeiledScenario:
        """Return the recording of a scenario until a moment, or to its end."""
        if (text, until) not in self.played:
            content = bundles.pack(bundles.content_of(stages.read_scenario(text, self.of.title)))
            source = source_of(RecordedScenario(content, text, self.of.title))
            veil = None if until is None else Veil(source.wire["scenario"], until.cycle, until.cut)
            recording = asyncio.run(record(source, [], bundles.watching(), veil))
            page = RecordingPage(self.of.title, text, recording.release, server=self.server)
            self.played[text, until] = VeiledScenario(source, page, recording, veil, len(self.played))
            check_size(sum(len(one) for made in self.played.values() for one in made.recording.texts))
        return self.played[text, until]


def _stop(context: dict[str, Any]) -> dict[str, Any]:
    return {"main": render_to_string("lesson_player.html", context), "player": context["player"]}


def _stage(address: str, played: VeiledScenario, frame: document.Assets) -> tuple[str, int]:
    """Return the page of a frame without the texts that it holds, and the place of its recording."""
    query = address.partition("?")[2]
    veil = played.veil
    context = {
        **document.stage_context(replace(played.page, query=query), played.source.wire),
        "embedded": True,
        "views": parse_qs(query, keep_blank_values=True)["views"][0],
        **({} if veil is None else {"veil": str(veil.last), "upto": veil.phase}),
    }
    empty = [HeldText("here", "")]
    return document.rendered("workbench.html", replace(frame, sheet=""), empty, context), played.place


def _answers(of: Lesson, at: Stop, context: dict[str, Any]) -> dict[str, Any] | None:
    """Return the verdicts on right answers, usual mistakes and all options, and the hints."""
    if at.task is None or at.task.form is None:
        return None
    said, spoken = catalogue.spoken(of, at, current())
    marking = key_of(said, spoken)
    usual = list(_usual(at.task.form, marking, context["player"]["task"]["options"]))
    return {
        "form": at.task.form,
        "tolerance": marking.tolerance,
        "verdicts": [(answer, to_builtins(shown(check(said, spoken, answer)))) for answer in usual],
        "hints": [hint(said, spoken, number) for number in HINTS] if at.marking.hints else [],
    }


def _usual(form: str, marking: AnswerKey, options: list[dict[str, Any]]) -> Iterator[Any]:
    """Yield answers: right ones, those that misconceptions lead to, and the options one by one."""
    yield from marking.accepted
    yield from (answer for answer, _ in marking.leads)
    keys = [one["key"] for one in options]
    yield from ([[], *([key] for key in keys)] if form in LISTS else keys)
