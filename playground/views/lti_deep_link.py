"""Picking a lesson for a course: the gallery as a form, and the signed answer to the platform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from playground.courseware import Lesson, LessonError
from playground.lessons import catalogue, lookup, operator_lessons, receipts
from playground.lti import browsers, launches, registrations
from playground.lti.login import LaunchRefusedError
from playground.serving.frame_policy import framed, posting
from playground.views.lti_pages import offered, refused
from playground.visitors.throttle import throttled

if TYPE_CHECKING:
    from playground.lti.launch_checks import Launch

SALT = "podstep.lti.pick"
PICK_SECONDS = 3_600
LARGEST = 12_000  # characters of what the platform wants back
SETTINGS = "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings"


def pick(request: HttpRequest, launch: Launch, browser: str) -> HttpResponse:
    """Render ``lti_pick.html``: the lessons, one to choose. Raises LaunchRefusedError.

    Context: ``platform``; ``tracks``; ``ticket`` (signed: where the answer goes).
    """
    platform, settings = launch.platform, launch.claims[SETTINGS]
    back = settings.get("deep_link_return_url")
    if not platform.allows(back):
        raise LaunchRefusedError(
            f"The link would go to {str(back)[:200]}, which is not among the origins of {platform.name}. The"
            " operator can add it to the platform's origins."
        )
    kept = {
        "browser": browser,
        "platform": platform.key,
        "deployment": launches.text(launch.claims, f"{launches.CLAIM}deployment_id"),
        "back": back,
        "data": settings.get("data"),
        "scored": settings.get("accept_lineitem") is not False,
    }
    if launches.encoded(kept) > LARGEST:
        raise LaunchRefusedError("The platform asks for more than a link can hold.")
    own = operator_lessons.track()
    context = {
        "platform": platform.name,
        "tracks": [*catalogue.tracks(), *([own] if own is not None else [])],
        "ticket": signing.dumps(kept, salt=SALT),
    }
    return framed(render(request, "lti_pick.html", context), platform.framing)


@csrf_exempt  # the ticket is of this browser; playground.serving.origins refuses forms of other sites
@require_POST
@offered
@throttled("LTI_LAUNCHES_PER_MINUTE")
def picked(request: HttpRequest) -> HttpResponse:
    """Render ``lti_picked.html``: the form that takes the link to the platform. 404 without platforms.

    Context: ``platform``; ``lesson``; ``back`` (its address); ``message`` (the signed answer).
    """
    try:
        kept = signing.loads(request.POST.get("ticket", "")[: 2 * LARGEST], salt=SALT, max_age=PICK_SECONDS)
        if kept["browser"] != browsers.browser_of(request):
            raise LaunchRefusedError("The link was requested in another browser.")
        return _answer(request, kept)
    except (signing.BadSignature, LaunchRefusedError) as error:
        reason = str(error) if isinstance(error, LaunchRefusedError) else "The page was open for too long."
        return refused(request, LaunchRefusedError(f"{reason} Select content in your course again."))


def _answer(request: HttpRequest, kept: dict[str, Any]) -> HttpResponse:
    from playground.lti.deep_links import message

    platform = registrations.platform_of(kept["platform"])
    of = _lesson(request.POST.get("lesson", ""))
    if platform is None or not platform.allows(kept["back"]):
        raise LaunchRefusedError("The platform is no longer registered here.")
    if of is None:
        raise LaunchRefusedError("No lesson was chosen.")
    url = request.build_absolute_uri(f"/learn/{of.slug}/")
    context = {
        "platform": platform.name,
        "lesson": of,
        "back": kept["back"],
        "message": message(platform, kept, of, url, len(receipts.asked(of))),
    }
    response = render(request, "lti_picked.html", context)
    response.headers["Cache-Control"] = "no-store"
    return framed(posting(response, platform.framing), platform.framing)


def _lesson(slug: str) -> Lesson | None:
    try:
        return lookup.lesson_at(slug[:80])
    except LessonError:
        return None
