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

from playground.courseware import Lesson, Stop, in_language
from playground.lessons import answer_links, catalogue, computations, lookup, stages, stop_pages
from playground.lessons.markdown import rendered
from playground.pictures.themes import LIGHT
from playground.pool.read_slots import reading
from playground.serving.error_pages import error_page
from playground.serving.languages import current, translated
from playground.serving.unsound import unsound
from playground.views.pictures import VEIL

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
    """Render ``lesson_handout.html``; with ``?answers=`` and what :mod:`answer_links` allows the teacher's.

    Context: ``section`` "learn"; ``lesson``; ``stops`` (:class:`Printed`); ``terms`` (words and meanings);
    ``answers`` (whether they are shown); ``may`` (the value of ``answers`` that shows them, "" for who may
    not see them); ``notes`` (HTML, "" on the learners' sheet).
    """
    found = lookup.lesson_at(slug)
    if found is None:
        raise Http404("There is no such lesson.")
    asked, language = request.GET.get("answers", ""), current()
    may = answer_links.allowed(slug, lookup.author_of(found), request.visitor, asked)  # type: ignore[attr-defined]
    answers = bool(asked) and asked == may
    if asked and not may:
        return error_page(request, 403, answer_links.REFUSED, title="The answers are for teachers")
    sheets = computations.kept(found, list[stop_pages.StopSheet], stop_pages.sheets, answers)
    with reading():
        stops = [_printed(found, at, sheet) for at, sheet in zip(found.stops, sheets, strict=True)]
    turned = [replace(stop, turn=bool(before.question)) for before, stop in pairwise(stops)]
    context: dict[str, Any] = {
        "section": "learn",
        "lesson": in_language(found, language),
        "stops": [*stops[:1], *turned],
        "terms": catalogue.words_of(found, language),
        "answers": answers,
        "may": may,
        "notes": rendered(computations.kept(found, str, stop_pages.notes)) if answers else "",
    }
    return render(request, "lesson_handout.html", context)


def _printed(of: Lesson, at: Stop, sheet: stop_pages.StopSheet) -> Printed:
    page, asked = sheet.page, sheet.page.asked
    picture = _picture(stages.stage(of, at, page.moments))
    text = rendered(page.text)
    if asked is None or asked.task.form is None:
        return Printed(sheet.title, sheet.language, text, picture)
    ticked = tuple(map(rendered, asked.labels)) if len(asked.labels) <= TICKED else ()
    form = asked.task.form
    return Printed(
        sheet.title,
        sheet.language,
        text,
        picture,
        question=rendered(asked.html),
        options=ticked,
        lines=0 if ticked and form != "order" else 4 if form in ("edit", "claim") else 1,
        answer=rendered(sheet.answer),
        sentence=rendered(sheet.sentence),
    )


def _picture(stage: stages.Stage) -> str:
    """Return the address of a picture of what the open stage shows, light as paper is."""
    asked = parse_qs(urlsplit(stage.open).query)
    place = {name: asked[name][0] for name in ("step", "phase", *VEIL) if name in asked}
    place["theme"] = LIGHT.name
    return f"/s/{stage.scenario}/card.png?{urlencode(place)}"
