"""The workbench on a draft, a shared scenario, an embedded one, or a cycle of a run."""

from __future__ import annotations

import re
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from playground.models import Draft
from playground.playback import sources
from playground.playback.veil import CYCLE
from playground.pool import offload
from playground.pool.process import LostError
from playground.pool.shares import BusyError
from playground.storage import bundles, comments, links, privacy, store
from playground.views import pictures
from playground.visitors import identity
from scheduler_core.kubernetes.problems import BundleError

TABS = re.compile(r"(?:[a-z]{1,20}(?:,[a-z]{1,20}){0,13})?")


def _visitor(request: HttpRequest) -> str:
    return request.visitor  # type: ignore[attr-defined]


def _find(kind: str, name: str, visitor: str) -> sources.Source:
    try:
        return sources.find({kind: name}, visitor)
    except sources.NotFoundError as error:
        raise Http404 from error


def workbench(request: HttpRequest, source: sources.Source, **more: Any) -> HttpResponse:
    """Render ``workbench.html``.

    Context: ``source`` {"draft"|"scenario"|"run"|"link"|"side": id}; ``title``; ``mine`` (may edit);
    ``embedded`` (no chrome); ``about`` (the text's first comment, may be empty); ``step`` (text, may be
    empty); ``query`` (the URL's query, verbatim); ``bundle_url`` (GET the bundle's text); ``forked_from`` (a
    short id or ""); ``room`` (the id of the room that is followed, or ""); ``preview`` (of the head, or
    None); ``embed_view`` (the one view that an embedded page shows, or ""); ``locked`` (whether that stays at
    its step); ``views`` (its Inspect tabs, of a lesson's stage; None: all), ``veil`` (the last cycle that it
    shows, or None) and ``upto`` (the last phase of that, or None); ``commented`` (a branch of a scenario with
    comments); ``lesson`` (the stop of the lesson that the room teaches, or None); ``compared`` ((side, id) of
    a comparison, or None). Texts are never inlined: they can be megabytes.
    """
    context = {
        "source": source.wire,
        "title": source.title,
        "mine": False,
        "embedded": False,
        "step": request.GET.get("step", "")[:24],
        "about": source.introduction(),
        "query": request.META.get("QUERY_STRING", ""),
        "bundle_url": "",
        "forked_from": "",
        "room": "",
        "projector": False,
        "invite": "",
        "preview": None,
        "commented": False,
        "compared": None,
        "embed_view": "",
        "locked": False,
        "views": None,
        "veil": None,
        "upto": None,
        "lesson": None,
        **more,
    }
    return render(request, "workbench.html", context)


@require_safe
@ensure_csrf_cookie
def draft(request: HttpRequest, name: str) -> HttpResponse:
    """Show a draft to its owner; answer 404 to anyone else."""
    source = _find("draft", name, _visitor(request))
    based_on = source.row.based_on  # type: ignore[union-attr]
    forked_from = based_on.removeprefix("scenario:") if based_on.startswith("scenario:") else ""
    origin = comments.of_branch(source.row)  # type: ignore[arg-type]
    return workbench(
        request,
        source,
        mine=True,
        bundle_url=f"/p/{name}/bundle",
        forked_from=forked_from,
        commented=origin is not None and comments.has_any(origin),
    )


@require_safe
def draft_bundle(request: HttpRequest, name: str) -> HttpResponse:
    """Answer a draft's text to its owner, without the parts that ``?without=`` lists."""
    parts = [part for part in request.GET.get("without", "").split() if part in privacy.PARTS]
    _find("draft", name, _visitor(request))
    try:
        row = Draft.objects.get(pk=name)  # text and revision in one query: the entity tag must match
    except Draft.DoesNotExist as error:
        raise Http404 from error
    try:
        with offload.reading_for(identity.asker()):
            text = store.draft_text(row)
            text = privacy.without(text, [*parts, "secrets"]) if "without" in request.GET else text
    except (BundleError, bundles.TooLargeError, BusyError, LostError):
        # Several files that can no longer, or cannot now, be read together: show them concatenated.
        text = "\n---\n".join(text for _, text in store.draft_files(row))
    headers = {"Cache-Control": "no-store", "ETag": f'"{row.text_revision}"'}
    return HttpResponse(text, content_type="text/plain; charset=utf-8", headers=headers)


@require_safe
def shared(request: HttpRequest, short: str) -> HttpResponse:
    """Show an immutable scenario to everyone."""
    source = _find("scenario", short, _visitor(request))
    response = workbench(
        request,
        source,
        bundle_url=f"/api/scenarios/{short}/bundle",
        preview=pictures.preview(
            request,
            f"/s/{short}/",
            source.title,
            pictures.release_of(source.row),  # type: ignore[arg-type]
        ),
    )
    response.headers["X-Robots-Tag"] = "noindex"
    return response


@require_safe
@ensure_csrf_cookie
def linked(request: HttpRequest, name: str) -> HttpResponse:
    """Show a private link to everyone who has it, at the view that it was made of."""
    link = links.find_link(name)
    if link is None:
        raise Http404
    if link.query and not request.META.get("QUERY_STRING"):
        response: HttpResponse = HttpResponseRedirect(f"/l/{link.pk}/?{link.query}")
    else:
        source = sources.Source({"link": link.pk}, link.scenario)
        response = workbench(
            request,
            source,
            title=link.title,
            bundle_url=f"/l/{link.pk}/bundle",
            preview=pictures.preview(
                request, f"/l/{link.pk}/", link.title, pictures.release_of(link.scenario)
            ),
        )
    response.headers["X-Robots-Tag"] = "noindex"
    return response


@require_safe
def link_bundle(request: HttpRequest, name: str) -> HttpResponse:
    """Answer the text of a private link's scenario."""
    link = links.find_link(name)
    if link is None:
        raise Http404
    headers = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex"}
    text = store.scenario_text(link.scenario)
    return HttpResponse(text, content_type="text/plain; charset=utf-8", headers=headers)


@require_safe
def embedded(request: HttpRequest, short: str) -> HttpResponse:
    """Show an immutable scenario without chrome; the only page that may be framed."""
    source = _find("scenario", short, "")
    view, veil = request.GET.get("view", ""), request.GET.get("veil", "")
    # What introduces a scenario may tell how it goes on.
    upto = request.GET.get("upto")
    veiled = {"veil": veil, "upto": upto, "about": ""} if CYCLE.fullmatch(veil) else {}
    response = workbench(
        request,
        source,
        embedded=True,
        embed_view=view if view in pictures.EMBED_VIEWS else "",
        locked=request.GET.get("lock") == "1",
        views=_tabs(request.GET.get("views")),
        **veiled,
        bundle_url=f"/api/scenarios/{short}/bundle",
    )
    response.headers["X-Robots-Tag"] = "noindex"
    response.xframe_options_exempt = True
    return response


def _tabs(views: str | None) -> str | None:
    """Return the tabs that an address names, None if it names none or something else."""
    return views if views is not None and TABS.fullmatch(views) else None


@require_safe
@ensure_csrf_cookie
def run_step(request: HttpRequest, name: str, step: str) -> HttpResponse:
    """Show a cycle of a run to everyone who has the run's link."""
    source = _find("run", name, _visitor(request))
    at = request.GET.get("step", step)[:24]
    return workbench(request, source, step=at, bundle_url=f"/runs/{name}/bundle")
