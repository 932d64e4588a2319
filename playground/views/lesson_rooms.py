"""Teaching a lesson in a room: what is to be taught, and the button that opens the room."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods

from playground.courseware import LessonError, in_language
from playground.lessons import classes, lookup
from playground.lessons.markdown import html
from playground.rooms import rows
from playground.serving.languages import current, translated
from playground.serving.unsound import unsound
from playground.storage import store
from playground.visitors import identity
from playground.visitors.throttle import address_of, wait_seconds


@require_http_methods(["GET", "HEAD", "POST"])
@translated
@ensure_csrf_cookie
@unsound
def teach(request: HttpRequest, slug: str) -> HttpResponse:
    """Render ``lesson_teach.html``; for a POST open a room on the lesson, and lead its new leader there.

    Context: ``section`` "learn"; ``lesson``; ``notes`` (HTML); ``error`` ("" or why no room was opened).
    """
    of = lookup.lesson_at(slug)
    if of is None:
        raise Http404("There is no such lesson.")
    if lookup.is_preview(slug):
        raise LessonError(classes.UNPUBLISHED)
    error = ""
    if request.method == "POST":
        at = classes.stop(slug)
        assert at is not None  # a lesson has stops
        scenario, address = store.find_scenario(at.scenario), address_of(request)
        wait = wait_seconds("ROOMS_PER_MINUTE", address)
        if scenario is None:
            raise Http404("The lesson's scenario was taken down.")
        owner = request.visitor or identity.owner_at(address)  # type: ignore[attr-defined]
        try:
            if wait:
                raise rows.TooManyRoomsError(f"Too many rooms from here; try again in {wait} seconds.")
            made = rows.create(scenario, owner, address, at.position, of.title, at.lesson)
        except rows.TooManyRoomsError as refusal:
            error = str(refusal)
        else:
            # Behind the #, so that the token is in no log, and in no Referer.
            return HttpResponseRedirect(f"/r/{made.room.pk}/#lead={made.token}&invite=1")
    found = in_language(of, current())
    context = {"section": "learn", "lesson": found, "notes": html(found.notes), "error": error}
    return render(request, "lesson_teach.html", context, status=429 if error else 200)
