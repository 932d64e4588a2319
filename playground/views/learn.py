"""The gallery of lessons, the player, reviews, and the page that verifies a completion code."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe
from msgspec import Struct, to_builtins

from playground.accounts import lesson_progress
from playground.courseware import Lesson, Stop, in_language, lessons
from playground.courseware.variants import has_variants
from playground.lessons import (
    answer_links,
    catalogue,
    computations,
    lookup,
    operator_lessons,
    receipts,
    reviews,
    stages,
    stop_pages,
)
from playground.lessons.markdown import rendered
from playground.pool.read_slots import reading
from playground.serving.frame_policy import framed
from playground.serving.languages import current, translated, words_of_scripts
from playground.serving.unsound import unsound
from playground.views.progress import account_at


class LaunchedLesson(Struct, frozen=True):
    """A lesson that a learning platform launched: where it is played, and what was answered right."""

    key: str
    home: str
    platform: str
    graded: bool
    passed: list[str]
    asked: int


@require_safe
@translated
def gallery(request: HttpRequest) -> HttpResponse:
    """Render ``learn.html``.

    Context: ``section`` "learn"; ``tracks`` (with their lessons, which may be in several); ``lessons`` (all);
    ``progress`` (for the browser: the stops of each lesson, and which of them ask something); ``words``
    (what the page's scripts say in its language).
    """
    language = current()
    found = [in_language(one, language) for one in (*lessons(), *operator_lessons.lessons())]
    own = operator_lessons.track()
    listed = [*catalogue.tracks(), *([own] if own is not None else [])]
    context = {
        "section": "learn",
        "lessons": found,
        "tracks": [catalogue.track_in(track, language) for track in listed],
        "progress": [_progress(one) for one in found],
        "words": words_of_scripts(language),
        **_learner(request),
    }
    return render(request, "learn.html", context)


def _learner(request: HttpRequest) -> dict[str, Any]:
    """Return the context of pages that show progress: ``learner``, whose it is; None for this browser's."""
    return {"learner": lesson_progress.shown(account_at(request))}


def _progress(of: Lesson) -> dict[str, Any]:
    stops = [stop.key for stop in of.stops]
    return {"slug": of.slug, "title": of.title, "stops": stops, "asked": receipts.asked(of)}


@require_safe
@translated
@unsound
@ensure_csrf_cookie
def lesson(request: HttpRequest, slug: str) -> HttpResponse:
    """Render the first stop of a lesson; the browser goes on where the learner left off."""
    found = _lesson(slug)
    return player(request, found, found.stops[0], resumes=True)


@require_safe
@translated
@unsound
@ensure_csrf_cookie
def stop(request: HttpRequest, slug: str, stop: str) -> HttpResponse:
    """Render a stop of a lesson."""
    found = lookup.stop_at(slug, stop)
    if found is None:
        raise Http404("There is no such stop.")
    return player(request, *found)


@require_safe
@unsound
def embedded(request: HttpRequest, slug: str, stop: str) -> HttpResponse:
    """Render a stop alone, without what is around it, for a frame of another site's page."""
    found = lookup.stop_at(slug, stop)
    if found is None:
        raise Http404("There is no such stop.")
    response = player(request, *found, embedded=True)
    response.headers["X-Robots-Tag"] = "noindex"
    return framed(response, "*")


def _lesson(slug: str) -> Lesson:
    found = lookup.lesson_at(slug)
    if found is None:
        raise Http404("There is no such lesson.")
    return found


def player(
    request: HttpRequest,
    of: Lesson,
    at: Stop,
    *,
    resumes: bool = False,
    embedded: bool = False,
    launched: LaunchedLesson | None = None,
) -> HttpResponse:
    """Render ``lesson.html``.

    Context: ``section`` "learn"; ``lesson``; ``stop``; ``place`` (its number, from 1); ``before`` and
    ``after`` (its neighbours, or None); ``text`` (HTML); ``terms`` (words and meanings); ``task`` (None
    where nothing is asked); ``question`` (HTML); ``options`` ({html, group}); ``stage``
    (:class:`playground.lessons.stages.Stage`); ``player`` (for the browser, static/js/lesson/asked.ts);
    ``resumes`` (whether the address names no stop); ``embedded`` (whether it is the stop alone);
    ``authored`` (whether a visitor wrote the lesson); ``preview`` (whether it is not published); ``words``
    (what its scripts say in its language); ``home`` (the address below which its stops are); ``launched``
    (by a platform, or None).
    """
    home = launched.home if launched is not None else f"/learn/{of.slug}/"
    page = computations.kept(of, stop_pages.StopPage, stop_pages.stop_page, at.key)
    with reading():
        stage = stages.stage(of, at, page.moments)
    context = stop_context(of, at, page, stage, home=home)
    if launched is not None:
        context["player"] |= {"launch": launched.key, "passed": launched.passed}
    context["player"]["resumes"] = resumes
    author = lookup.author_of(of)
    context |= {
        "authored": author is not None,
        "savable": bool(answer_links.allowed(of.slug, author, request.visitor, "")),  # type: ignore[attr-defined]
        "preview": lookup.is_preview(of.slug),
        "resumes": resumes,
        "embedded": embedded,
        "launched": launched,
    }
    return render(request, "lesson.html", {"section": "learn", **context, **_learner(request)})


def stop_context(
    of: Lesson, at: Stop, page: stop_pages.StopPage, stage: stages.Stage, *, home: str
) -> dict[str, Any]:
    """Return the context of ``lesson_player.html``: a stop, whose neighbours are below ``home``."""
    place, language = of.stops.index(at), current()
    of, at = catalogue.spoken(of, at, language)
    context = _asking(at, page.asked, stage)
    context["player"] |= {
        "lesson": of.slug,
        "stop": at.key,
        "stops": [one.key for one in of.stops],
        "resumes": False,
        "home": home,
    }
    return {
        "lesson": of,
        "stop": at,
        "place": place + 1,
        "before": of.stops[place - 1] if place else None,
        "after": of.stops[place + 1] if place + 1 < len(of.stops) else None,
        "text": rendered(page.text),
        "terms": catalogue.words_of(of, language),
        "home": home,
        **context,
    }


def _asking(at: Stop, question: stop_pages.StopQuestion | None, stage: stages.Stage) -> dict[str, Any]:
    """Return the context of a question about a scenario."""
    task, asked = question and question.task, None
    if question is not None and question.task.form is not None:
        asked = {
            "kind": question.task.kind,
            "form": question.task.form,
            "question": question.task.question,
            "options": to_builtins(question.options),
            "unit": question.task.unit,
            "hints": question.task.hints,
            "par": question.task.par,
            "forbidden": list(question.forbidden),
        }
    options = zip(question.labels, question.options, strict=True) if question is not None else ()
    return {
        "task": task,
        "question": rendered(question.html) if question is not None else "",
        "options": [{"html": rendered(label), "group": option.group} for label, option in options],
        "stage": stage,
        "words": words_of_scripts(current()),
        "player": {
            "task": asked,
            "stage": to_builtins(stage),
            "seed": None,
            "language": at.language,
            "home": "",
            "launch": None,
            "passed": [],
        },
    }


@require_safe
@translated
@unsound
def done(request: HttpRequest, slug: str) -> HttpResponse:
    """Render ``lesson_done.html``: what was learned, the completion code, the next lesson.

    Context: ``section`` "learn"; ``lesson``; ``following`` (track and lesson, or None); ``progress`` (for the
    browser) and ``words``, as in the gallery.
    """
    of, language = _lesson(slug), current()
    found, onward = in_language(of, language), catalogue.following(of)
    if onward is not None:
        onward = (catalogue.track_in(onward[0], language), in_language(onward[1], language))
    context = {
        "section": "learn",
        "lesson": found,
        "following": onward,
        "preview": lookup.is_preview(slug),
        "progress": _progress(found),
        "words": words_of_scripts(language),
        **_learner(request),
    }
    return render(request, "lesson_done.html", context)


@require_safe
@translated
def code(request: HttpRequest, code: str) -> HttpResponse:
    """Render ``lesson_code.html``: what a completion code certifies; 404 for one that was not issued here.

    Context: ``section`` "learn"; ``completion`` (:class:`playground.lessons.receipts.Completion`, or None);
    ``lesson`` (its own).
    """
    completion = receipts.certified(code)
    of = completion and in_language(completion.lesson, current())
    context = {"section": "learn", "completion": completion, "lesson": of}
    response = render(request, "lesson_code.html", context, status=404 if completion is None else 200)
    response.headers["X-Robots-Tag"] = "noindex"
    return response


@require_safe
@translated
def review(request: HttpRequest) -> HttpResponse:
    """Render ``lesson_review.html``: the predictions that are due, which the browser knows.

    Context: ``section`` "learn"; ``review`` (for the browser: by slug the lesson's title, and the titles of
    its stops that have variants; how many a stop has); ``words``, as in the gallery.
    """
    language = current()
    titles = {
        one.slug: {
            "title": said.title,
            "stops": {stop.key: stop.title for stop in said.stops if has_variants(said, stop)},
        }
        for one in (*lessons(), *operator_lessons.lessons())
        for said in [in_language(one, language)]
    }
    context = {
        "section": "learn",
        "review": {"lessons": titles, "seeds": reviews.SEEDS},
        "words": words_of_scripts(language),
        **_learner(request),
    }
    return render(request, "lesson_review.html", context)


@require_safe
@translated
@unsound
@ensure_csrf_cookie
def variant(request: HttpRequest, slug: str, stop: str, seed: int) -> HttpResponse:
    """Render a stop's question about other numbers as ``lesson.html``, without text or neighbours."""
    found = lookup.stop_at(slug, stop)
    if found is None or not 1 <= seed <= reviews.SEEDS:
        raise Http404("There is no such question.")
    of, at = found
    page = computations.kept(of, stop_pages.StopPage | None, stop_pages.variant_page, at.key, seed)
    if page is None:
        raise Http404("This question has no variants.")
    with reading():
        stage = stages.stage(of, at, page.moments, page.bundle)
    of, at = catalogue.spoken(of, at, current())
    context = _asking(at, page.asked, stage)
    context["player"] |= {"lesson": slug, "stop": at.key, "stops": [at.key], "resumes": False, "seed": seed}
    return render(
        request,
        "lesson.html",
        {"section": "learn", "lesson": of, "stop": at, "review": True, **context, **_learner(request)},
    )
