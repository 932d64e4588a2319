"""What all pages of LTI share: there is a platform for them, and they say why a launch was refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import structlog
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from playground.limits import limit
from playground.lti import registrations
from playground.lti.login import LaunchRefusedError
from playground.serving.error_pages import error_page
from playground.serving.frame_policy import framed

log = structlog.get_logger(__name__)

View = Callable[..., HttpResponse]


LARGEST = 4  # times the longest message: a form with it, encoded


def offered(view: View) -> View:
    """Answer 404 unless there is a platform, and 413 to a form that is longer than any of a platform's."""

    @wraps(view)
    def shown(request: HttpRequest, *args: object, **names: object) -> HttpResponse:
        if not registrations.platforms():
            raise Http404("No learning platform is registered here.")
        length = request.headers.get("Content-Length") or "0"
        if not length.isdigit() or int(length[:19]) > LARGEST * limit("LTI_TOKEN_BYTES"):
            return error_page(request, 413, "The form is longer than what a learning platform sends.")
        return view(request, *args, **names)

    return shown


def refused(request: HttpRequest, error: LaunchRefusedError) -> HttpResponse:
    """Render ``lti_refused.html``: what was wrong, and what to do. Context: ``message``.

    Before a launch is verified nobody knows whose it is: any registered platform may frame the page.
    """
    log.info("a launch was refused", reason=str(error)[:300])
    response = render(request, "lti_refused.html", {"message": str(error)}, status=400)
    response.headers["Cache-Control"] = "no-store"
    return framed(response, " ".join(one.framing for one in registrations.platforms()))
