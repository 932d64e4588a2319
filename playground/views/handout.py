"""A lesson on paper: its stops with room to answer, and for the teacher the answers and notes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe
from msgspec import Struct
from msgspec.structs import replace

from playground.lessons import catalogue, forms, lookup, stages
from playground.lessons.markdown import html, line
from playground.pool.reading import reading
from playground.serving.languages import current, translated
from playground.serving.unsound import unsound
from scheduler_core.authoring.lessons import (
    Lesson,
    Stop,
    answer_of,
    bundle_of,
    in_language,
    task_of,
    text_of,
)

TICKED = 12  # options that are listed to be ticked; of more the answer is written on a line


class Printed(Struct, frozen=True):
    """A stop on paper.

    ``picture`` shows the cluster before the question is answered; ``lines`` is how many to write on.
    ``answer`` and ``sentence`` are empty where nothing is asked, and on the learners' sheet. The stop
    after a question begins a page (``turn``), because it may tell the answer.
    """

    title: str
    language: str
    text: SafeString
    picture: str
    question: SafeString | str = ""
    options: tuple[SafeString, ...] = ()
    lines: int = 0
    answer: SafeString | str = ""
    sentence: SafeString | str = ""
    turn: bool = False


@require_safe
@translated
@unsound
def handout(request: HttpRequest, slug: str) -> HttpResponse:
    """Render ``lesson_handout.html``; with ``?answers=1`` the teacher's sheet.

    Context: ``section`` "learn"; ``lesson``; ``stops`` (:class:`Printed`); ``terms`` (words and meanings);
    ``answers`` (whether they are shown); ``notes`` (HTML, "" on the learners' sheet).
    """
    found = lookup.lesson_at(slug)
    if found is None:
        raise Http404("There is no such lesson.")
    answers, language = request.GET.get("answers") == "1", current()
    with reading():
        stops = [_printed(found, one, answers=answers) for one in found.stops]
    turned = [replace(stop, turn=bool(before.question)) for before, stop in pairwise(stops)]
    context: dict[str, Any] = {
        "section": "learn",
        "lesson": in_language(found, language),
        "stops": [*stops[:1], *turned],
        "terms": catalogue.words_of(found, language),
        "answers": answers,
        "notes": html(in_language(found, language).notes) if answers else "",
    }
    return render(request, "lesson_handout.html", context)


def _printed(of: Lesson, stop: Stop, *, answers: bool) -> Printed:
    stage = stages.stage(of, stop)
    of, stop = catalogue.spoken(of, stop, current())
    task = task_of(of, stop)
    text = html(text_of(of, stop))
    if task is None or task.form is None:
        return Printed(stop.title, stop.language, text, _picture(stage))
    options = forms.options(task, stop, bundle_of(of, stop))
    ticked = tuple(line(one.label) for one in options) if len(options) <= TICKED else ()
    answer, sentence = answer_of(of, stop) if answers else ("", "")
    return Printed(
        stop.title,
        stop.language,
        text,
        _picture(stage),
        question=html(task.question),
        options=ticked,
        lines=0 if ticked and task.form != "order" else 4 if task.form in ("edit", "claim") else 1,
        answer=line(answer),
        sentence=line(sentence),
    )


def _picture(stage: stages.Stage) -> str:
    """Return the address of a picture of what the open stage shows."""
    asked = parse_qs(urlsplit(stage.open).query)
    place: dict[str, object] = {name: asked[name][0] for name in ("step", "phase") if name in asked}
    return f"/s/{stage.scenario}/card.png?{urlencode(place)}"
