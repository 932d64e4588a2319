"""The pages on which lessons are written: the list, a lesson, and what its page asks of the server."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import msgspec
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from playground.courseware import LessonError, folder, glossary, misconceptions, tracks
from playground.courseware.archives import PACKED, packed, unpacked
from playground.courseware.facts import FACTS, signature
from playground.courseware.proposals import AskedPlace
from playground.lessons import amendments, author_jobs, checks, lookup, stages, stop_pages
from playground.lessons.proposals import proposed
from playground.limits import limit
from playground.models import AuthoredLesson
from playground.pool.shares import BusyError
from playground.protocol.tabs import STEP_TABS
from playground.serving.error_pages import error_page
from playground.serving.json_bodies import answers_json, parsed
from playground.storage import bundles, visitor_lessons
from playground.storage.quotas import StorageFullError
from playground.storage.store import GoneError
from playground.visitors.throttle import address_of, wait_seconds
from scheduler_core.kubernetes.conversion import converted
from scheduler_core.kubernetes.problems import Problem

RATE = "LESSON_CHANGES_PER_MINUTE"
BODY = 600_000  # bytes of a change: a stop's text, or the files of one that comes back
View = Callable[..., HttpResponse]


def _mine(view: View) -> View:
    """Give a view the visitor's own lesson; another's is as if it were not there."""

    @wraps(view)
    def found(request: HttpRequest, name: str) -> HttpResponse:
        row = visitor_lessons.find(name, request.visitor)  # type: ignore[attr-defined]
        if row is None:
            raise Http404("You have no such lesson.")
        return view(request, row)

    return found


def _counted(view: View) -> View:
    """Bound the requests of an address, and answer in JSON what a lesson cannot be."""

    @wraps(view)
    def counted(request: HttpRequest, *args: object, **names: object) -> HttpResponse:
        if wait := wait_seconds(RATE, address_of(request)):
            response = _refused(429, f"Too many changes; wait {wait} seconds.")
            response.headers["Retry-After"] = str(wait)
            return response
        try:
            return view(request, *args, **names)
        except amendments.ConflictError as error:
            return _refused(409, str(error), current=error.current)
        except (LessonError, bundles.TooLargeError) as error:
            return _refused(422, str(error))
        except StorageFullError as error:
            return _refused(error.status, str(error))
        except BusyError as error:
            response = _refused(error.status, str(error))
            response.headers["Retry-After"] = str(error.retry_after)
            return response
        except GoneError as error:
            return _refused(410, str(error))
        except AuthoredLesson.DoesNotExist:
            return _refused(404, "This lesson was deleted elsewhere.")

    return counted


def _refused(status: int, message: str, **more: Any) -> HttpResponse:
    return JsonResponse({"message": message, **more}, status=status)


@require_safe
@never_cache
@ensure_csrf_cookie
def listing(request: HttpRequest) -> HttpResponse:
    """Render ``lesson_authored.html``: the visitor's lessons, and importing one.

    Context: ``section`` "learn"; ``lessons`` (rows); ``most`` (how many there may be); ``bytes`` (of an
    archive); ``deleted`` (whether one was just deleted).
    """
    rows = visitor_lessons.lessons_of(request.visitor)  # type: ignore[attr-defined]
    context = {
        "section": "learn",
        "lessons": rows,
        "most": limit("LESSONS_PER_OWNER"),
        "kib": PACKED // 1024,
        "deleted": "deleted" in request.GET,
    }
    return render(request, "lesson_authored.html", context)


@require_POST
def imported(request: HttpRequest) -> HttpResponse:
    """Store the lesson of an archive, sound or not, and lead to its page, which lists its problems."""
    visitor = request.visitor  # type: ignore[attr-defined]
    if wait := wait_seconds(RATE, address_of(request)):
        return error_page(request, 429, f"Wait {wait} seconds.", retry_after=wait)
    upload = request.FILES.get("lesson")
    if not visitor or upload is None:
        return error_page(request, 400, "Choose the archive of a lesson, a .zip file.")
    try:
        name, files = unpacked(upload.read(PACKED + 1))
        title = amendments.title_of(files)
        row = visitor_lessons.create(visitor, files, folder_name(name, title), title)
    except (LessonError, bundles.TooLargeError) as error:
        return error_page(request, 422, str(error), title="This is not a lesson")
    except visitor_lessons.TooManyLessonsError as error:
        return error_page(request, 409, str(error))
    except StorageFullError as error:
        return error_page(request, error.status, str(error))
    return HttpResponseRedirect(f"/learn/author/{row.pk}/")


def folder_name(given: str, title: str) -> str:
    """Return the folder of an imported lesson: its own name if that is one, else one made of the title."""
    number, _, slug = given.partition("-")
    sound = (
        len(number) == 2 and number.isdecimal() and number.isascii() and slug and slug == folder.slug(slug)
    )
    return given if sound else f"01-{folder.slug(title)}"


@require_POST
def created(request: HttpRequest) -> HttpResponse:
    """Store a lesson without stops, and lead to its page."""
    visitor = request.visitor  # type: ignore[attr-defined]
    if not visitor:
        return error_page(request, 400, "Allow the cookie of this site: it is what knows your lessons.")
    try:
        row = visitor_lessons.create(visitor, folder.blank("A lesson"), "01-lesson", "A lesson")
    except visitor_lessons.TooManyLessonsError as error:
        return error_page(request, 409, str(error))
    except StorageFullError as error:
        return error_page(request, error.status, str(error))
    return HttpResponseRedirect(f"/learn/author/{row.pk}/")


@require_safe
@never_cache
@ensure_csrf_cookie
@_mine
def page(request: HttpRequest, row: AuthoredLesson) -> HttpResponse:
    """Render ``lesson_author.html``.

    Context: ``section`` "learn"; ``lesson`` (the row); ``author`` (for the browser, static/js/lesson/author).
    """
    words = {
        "views": STEP_TABS,
        "tracks": tracks(),
        "terms": sorted(glossary()),
        "misconceptions": misconceptions(),
        "facts": [signature(name) for name in FACTS],
    }
    context = {"section": "learn", "lesson": row, "author": {"state": amendments.state(row), **words}}
    return render(request, "lesson_author.html", context)


@answers_json
@require_safe
@never_cache
@_mine
def state(_request: HttpRequest, row: AuthoredLesson) -> HttpResponse:
    """Answer a lesson as its page has it."""
    return JsonResponse(amendments.state(row))


@answers_json
@require_POST
@_mine
@_counted
def change(request: HttpRequest, row: AuthoredLesson) -> HttpResponse:
    """Change a lesson; answer its state, and with a removal the change that undoes it."""
    if len(request.body) > BODY:
        return _refused(413, f"A change has at most {BODY:,} bytes.")
    try:
        kind: Any = amendments.Change  # a union of structs
        wanted: amendments.Change = converted(parsed(request.body), kind)
    except ValueError as error:
        return _refused(400, f"The change cannot be read: {error}")
    undo = None
    if isinstance(wanted, amendments.Removal):
        undo = amendments.removed(visitor_lessons.files_of(row), wanted.stop)
    row = amendments.changed(row, wanted)
    answer = amendments.state(row) | ({"undo": msgspec.to_builtins(undo)} if undo is not None else {})
    return JsonResponse(answer)


@answers_json
@require_safe
@never_cache
@_mine
@_counted
def problems(_request: HttpRequest, row: AuthoredLesson) -> HttpResponse:
    """Answer what the tests of lessons find in a lesson."""
    found = checks.problems(row.owner, row.folder, visitor_lessons.files_of(row))
    return JsonResponse({"revision": row.revision, "problems": [_wire(one, row) for one in found]})


def _wire(problem: Problem, row: AuthoredLesson) -> dict[str, Any]:
    file = (problem.file or "").removeprefix(f"{row.folder}/")
    return {"message": problem.message, "file": file, "line": problem.line, "path": problem.path}


@answers_json
@require_safe
@never_cache
@_mine
@_counted
def stage(request: HttpRequest, row: AuthoredLesson) -> HttpResponse:
    """Answer the address at which a scenario of a lesson is framed, to point at what is asked about."""
    text = _scenario(row, request.GET.get("scenario", ""))
    shown = visitor_lessons.shared(row, stages.read_scenario(text, stages.TITLE), text)
    return JsonResponse({"url": f"/e/{shown.short}/"})


@answers_json
@require_POST
@_mine
@_counted
def propose(request: HttpRequest, row: AuthoredLesson) -> HttpResponse:
    """Answer what may be asked about a place of a scenario, with the fact that answers each."""
    try:
        wanted: PointedPlace = converted(parsed(request.body), PointedPlace)
    except ValueError as error:
        return _refused(400, f"The place cannot be read: {error}")
    text = _scenario(row, wanted.scenario)
    share = author_jobs.share_of(row.owner)
    found = author_jobs.in_pool(share, proposed, text, wanted.step, wanted.place)
    return JsonResponse({"proposals": found})


class PointedPlace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What of a lesson's scenario an author points at."""

    scenario: str
    step: str
    place: AskedPlace


def _scenario(row: AuthoredLesson, name: str) -> str:
    text = visitor_lessons.files_of(row).get(name) if name.startswith("scenario") else None
    if text is None:
        raise LessonError(f"The lesson has no scenario {name[:60]!r}.")
    return text


@require_safe
@never_cache
@_mine
def exported(_request: HttpRequest, row: AuthoredLesson) -> HttpResponse:
    """Answer the folder of a lesson as a ZIP archive, finished or not."""
    data = packed(row.folder, visitor_lessons.files_of(row))
    response = HttpResponse(data, content_type="application/zip")
    response.headers["Content-Disposition"] = f'attachment; filename="{row.folder}.zip"'
    return response


@answers_json
@require_POST
@_mine
@_counted
def publish(_request: HttpRequest, row: AuthoredLesson) -> HttpResponse:
    """Make a lesson playable by who has its address, if the tests find nothing."""
    found = checks.problems(row.owner, row.folder, visitor_lessons.files_of(row))
    if found:
        return _refused(
            422, "The lesson has problems; they are listed.", problems=[_wire(one, row) for one in found]
        )
    done = visitor_lessons.publish(row, row.revision)
    if done is None:
        return _refused(409, "The lesson was changed elsewhere meanwhile; publish it again.", current=None)
    of = lookup.lesson_at(done.link)
    if of is not None:
        stop_pages.render(of)
    return JsonResponse(amendments.state(done))


@answers_json
@require_POST
@_mine
@_counted
def withdraw(_request: HttpRequest, row: AuthoredLesson) -> HttpResponse:
    """Take back a lesson's address."""
    return JsonResponse(amendments.state(visitor_lessons.withdraw(row)))


@require_POST
@_mine
def delete(_request: HttpRequest, row: AuthoredLesson) -> HttpResponse:
    """Delete a lesson and lead to the list."""
    visitor_lessons.delete(row)
    return HttpResponseRedirect("/learn/author/?deleted")
