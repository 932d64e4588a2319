"""LTI 1.3: the key set, logins and launches of learning platforms, and the lesson as it was launched.

Without a registered platform all of this answers 404. What is shown may be framed by the origins of the
platform that it is shown for.
"""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from playground.courseware import Lesson, in_language
from playground.lessons import answer_links, lookup, receipts
from playground.lti import browsers, launches, registrations
from playground.lti import login as logins
from playground.lti.login import LaunchRefusedError
from playground.lti.platforms import Platform
from playground.models import LtiLaunch
from playground.serving.frame_policy import framed
from playground.serving.json_bodies import answers_json
from playground.serving.languages import current, translated
from playground.serving.unsound import unsound
from playground.views import learn
from playground.views.lti_deep_link import pick
from playground.views.lti_pages import offered, refused
from playground.visitors.throttle import throttled

TRIED = "tried"  # that the browser was given its cookie before
KEYS_SECONDS = 3_600
RATE = "LTI_LAUNCHES_PER_MINUTE"
HANDED_IN = frozenset({"open", "failed"})  # states of a score that can be
RELOADED_SECONDS = 90  # the page of a score that is being sent asks again for so long


@answers_json
@require_safe
@offered
def key_set(request: HttpRequest) -> HttpResponse:
    """Answer the public keys by which platforms check what this server signs."""
    from playground.lti.tool import key_set as keys

    return JsonResponse(keys(), headers={"Cache-Control": f"public, max-age={KEYS_SECONDS}"})


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@offered
@throttled(RATE)
def login(request: HttpRequest) -> HttpResponse:
    """Send a browser to the platform that asks for it, once it is known to keep the cookie.

    One that does not is offered a tab of its own: ``lti_cookies.html``, with ``platform`` and ``address``.
    """
    fields = request.POST or request.GET
    given = {name: str(fields.get(name, "")) for name in logins.SENT}
    try:
        platform, sent = logins.asked(given)
    except LaunchRefusedError as error:
        return refused(request, error)
    here = f"{request.path}?{urlencode(sent)}"
    browser = browsers.browser_of(request)
    if browser:
        back = request.build_absolute_uri("/lti/launch/")
        return HttpResponseRedirect(logins.address(platform, sent, browser, back))
    if request.GET.get(TRIED) != "1":
        response: HttpResponse = HttpResponseRedirect(f"{here}&{TRIED}=1")
        browsers.introduce(request, response)
        return response
    context = {"platform": platform.name, "address": here}
    return framed(render(request, "lti_cookies.html", context), platform.framing)


@csrf_exempt
@require_POST
@offered
@throttled(RATE)
def launch(request: HttpRequest) -> HttpResponse:
    """Verify a launch, and go to its lesson, or to the page that picks one for a course."""
    from playground.lti import launch_checks

    browser = browsers.browser_of(request)
    if problem := request.POST.get("error"):
        about = request.POST.get("error_description", "")
        return refused(
            request, LaunchRefusedError(f"The platform refused the login: {problem[:80]}. {about[:300]}")
        )
    given = {name: request.POST.get(name, "") for name in ("state", "id_token")}
    try:
        found = launch_checks.verified(given, browser)
        if found.is_deep_link_launch():
            return pick(request, found, browser)
        if not found.is_resource_launch():
            raise LaunchRefusedError("The platform asks for something other than a lesson.")
        row = launches.opened(found.platform, found.claims, browser, teaches=found.teaches)
    except LaunchRefusedError as error:
        return refused(request, error)
    return HttpResponseRedirect(f"/lti/at/{row.pk}/", status=303)


# The lesson as it was launched


@require_safe
@offered
@translated
@unsound
def lesson(request: HttpRequest, name: str) -> HttpResponse:
    """Render the first stop of a launched lesson; the browser goes on where the learner left off."""
    return _stop(request, name, "")


@require_safe
@offered
@translated
@unsound
def stop(request: HttpRequest, name: str, stop: str) -> HttpResponse:
    """Render a stop of a launched lesson."""
    return _stop(request, name, stop)


def _stop(request: HttpRequest, name: str, key: str) -> HttpResponse:
    found = _held(request, name)
    if found is None:
        return _elsewhere(request)
    row, platform, of = found
    at = next((one for one in of.stops if one.key == key or not key), None)
    if at is None:
        raise Http404("There is no such stop.")
    response = learn.player(request, of, at, resumes=not key, launched=_launched(row, platform, of))
    return _shown(response, platform)


@csrf_exempt  # the cookie is for frames of other sites; playground.serving.origins refuses their forms
@require_http_methods(["GET", "HEAD", "POST"])
@offered
@translated
@unsound
def done(request: HttpRequest, name: str) -> HttpResponse:
    """Render ``lti_done.html``: what was learned, and the score; a POST hands it in as it is.

    Context: ``section`` "learn"; ``lesson``; ``launched`` (:class:`playground.views.learn.LaunchedLesson`);
    ``open`` (stops that are not answered right); ``row``; ``state`` ("teacher", "open", "sent", "sending",
    "failed": of the score); ``again`` (whether the page asks again soon).
    """
    found = _held(request, name)
    if found is None:
        return _elsewhere(request)
    row, platform, of = found
    if request.method == "POST":
        if _state(row, len(launches.passed(row, of))) in HANDED_IN:
            launches.hand_in(row, of)
        return HttpResponseRedirect(request.path, status=303)
    launched = _launched(row, platform, of)
    spoken = in_language(of, current())
    state = _state(row, len(launched.passed))
    waited = (timezone.now() - row.handed).total_seconds() if row.handed else 0.0
    context = {
        "section": "learn",
        "lesson": spoken,
        "launched": launched,
        "open": [one for one in spoken.stops if one.key in receipts.asked(of) and one.key not in row.passed],
        "row": row,
        "state": state,
        "answers": answer_links.signed(of.slug) if row.teaches else "",
        "again": state == "sending" and waited < RELOADED_SECONDS,
    }
    return _shown(render(request, "lti_done.html", context), platform)


def _state(row: LtiLaunch, right: int) -> str:
    if not row.graded:
        return "teacher"
    if row.due is not None:
        return "sending"
    if row.handed is None:
        return "open"
    if row.trouble:
        return "failed"
    return "sent" if row.sent == right else "open"


def _held(request: HttpRequest, name: str) -> tuple[LtiLaunch, Platform, Lesson] | None:
    """Return a launch of this browser, with its platform and lesson; None for any other."""
    row = launches.held(name, browsers.browser_of(request))
    platform = registrations.platform_of(row.platform) if row is not None else None
    of = lookup.lesson_at(row.lesson) if row is not None else None
    return None if row is None or platform is None or of is None else (row, platform, of)


def _elsewhere(request: HttpRequest) -> HttpResponse:
    error = "This lesson was launched in another browser, or your browser did not send podstep's cookie."
    return refused(request, LaunchRefusedError(f"{error} Open it from your course again."))


def _launched(row: LtiLaunch, platform: Platform, of: Lesson) -> learn.LaunchedLesson:
    return learn.LaunchedLesson(
        key=row.pk,
        home=f"/lti/at/{row.pk}/",
        platform=platform.name,
        graded=row.graded,
        passed=launches.passed(row, of),
        asked=len(receipts.asked(of)),
    )


def _shown(response: HttpResponse, platform: Platform) -> HttpResponse:
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers["Cache-Control"] = "no-store"
    return framed(response, platform.framing)
