"""Views of steps as files: one as SVG or PNG, a range of them as a slide deck."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from playground.comparisons import address
from playground.pictures.card import png
from playground.pictures.scenario_payload import carrying, fragment
from playground.pictures.themes import DARK, THEMES
from playground.playback import sources
from playground.playback.playback import OutOfRangeError, Playback
from playground.pool.read_slots import reading
from playground.reports import drawings, slides
from playground.serving.error_pages import error_page
from playground.storage import privacy
from playground.views.comparison import REFUSALS, status_of
from playground.views.reports import POLICY
from playground.views.workbench import _visitor
from playground.visitors.throttle import throttled

FORMATS = {"svg": "image/svg+xml", "png": "image/png"}
_NUMBER = re.compile(r"[0-9]{1,9}")
Made = TypeVar("Made")
Make = Callable[[Playback, sources.Source], Made]
UNTITLED = "Untitled"
#: Of a draft's text, what a picture does not carry: nothing that scheduling reads.
UNREAD = ("env", "annotations", "data", "secrets")


@require_safe
@never_cache
@throttled("IMPORTS_PER_MINUTE")
def picture(request: HttpRequest) -> HttpResponse:
    """Answer a ``view`` (of drawings.VIEWS) of a ``source`` after a ``step`` as ``format`` svg or png.

    A PNG carries its scenario, but for what scheduling does not read of a draft; with ``bare`` it does not.
    """
    kind = request.GET.get("format", "svg")
    if kind not in FORMATS:
        return error_page(request, 400, f"A picture is one of: {', '.join(FORMATS)}.")
    view = request.GET.get("view", "stage")
    if view not in drawings.VIEWS:
        return error_page(request, 400, f"A view is one of: {', '.join(drawings.VIEWS)}.")
    step = _number(request, "step", 0)

    def make(playback: Playback, source: sources.Source) -> str | bytes:
        svg = drawings.drawing(playback, source.title or UNTITLED, view, step)
        if kind == "svg" or "bare" in request.GET:
            return svg if kind == "svg" else png(svg)
        text = source.text()
        if "draft" in source.wire:
            text = privacy.without(text, UNREAD)
        return carrying(png(svg), fragment(text, source.title, f"step={step}", playback.scenario.release))

    made = _made(request, make)
    if isinstance(made, HttpResponse):
        return made
    of = "" if view == "stage" else f"-{view}"
    return _file(made, FORMATS[kind], f"step-{step}{of}.{kind}")


@require_safe
@never_cache
@throttled("IMPORTS_PER_MINUTE")
def deck(request: HttpRequest) -> HttpResponse:
    """Answer the steps ``from`` … ``to`` of a ``source`` as an HTML file in a ``theme``, at most SLIDES."""
    first = _number(request, "from", 0)
    last = _number(request, "to", first + slides.SLIDES - 1)
    if last < first or last - first >= slides.SLIDES:
        return error_page(request, 400, f"A deck has 1 to {slides.SLIDES} steps.")
    theme = THEMES.get(request.GET.get("theme", DARK.name))
    if theme is None:
        return error_page(request, 400, f"A theme is one of: {', '.join(THEMES)}.")

    def make(playback: Playback, source: sources.Source) -> tuple[str, list[slides.Slide]]:
        title = source.title or UNTITLED
        return title, slides.slides(playback, title, first, last, theme)

    made = _made(request, make)
    if isinstance(made, HttpResponse):
        return made
    title, shown = made
    page = render_to_string("deck.html", {"title": title, "slides": shown, "theme": theme, "policy": POLICY})
    return _file(page, "text/html; charset=utf-8", f"steps-{first}-to-{first + len(shown) - 1}.html")


def _made(request: HttpRequest, make: Make[Made]) -> Made | HttpResponse:
    """Return what is made of the request's source, or the page that explains why it is not."""
    try:
        source = address.found(request.GET.get("source", ""), "source", "to export", _visitor(request))
        with reading():
            playback = sources.open_playback(source)
            if not playback.complete:
                sources.check_work(playback.scenario)
            return make(playback, source)
    except OutOfRangeError as error:
        return error_page(request, 404, str(error))
    except REFUSALS as error:
        return error_page(request, status_of(error), str(error))


def _number(request: HttpRequest, name: str, usual: int) -> int:
    given = request.GET.get(name, "")
    return int(given) if _NUMBER.fullmatch(given) else usual


def _file(body: str | bytes, kind: str, name: str) -> HttpResponse:
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Content-Security-Policy": POLICY,
        "X-Robots-Tag": "noindex",
    }
    return HttpResponse(body, content_type=kind, headers=headers)
