"""What all pages of LTI share: there is a platform for them, and they say why a launch was refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import structlog
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from playground.lti import registered
from playground.lti.login import LaunchRefusedError
from playground.serving.framing import framed

log = structlog.get_logger(__name__)

View = Callable[..., HttpResponse]


def offered(view: View) -> View:
    """Answer 404 unless there is a platform."""

    @wraps(view)
    def shown(request: HttpRequest, *args: object, **names: object) -> HttpResponse:
        if not registered.platforms():
            raise Http404("No learning platform is registered here.")
        return view(request, *args, **names)

    return shown


def refused(request: HttpRequest, error: LaunchRefusedError) -> HttpResponse:
    """Render ``lti_refused.html``: what was wrong, and what to do. Context: ``message``.

    Before a launch is verified nobody knows whose it is: any registered platform may frame the page.
    """
    log.info("a launch was refused", reason=str(error)[:300])
    response = render(request, "lti_refused.html", {"message": str(error)}, status=400)
    response.headers["Cache-Control"] = "no-store"
    return framed(response, " ".join(one.framing for one in registered.platforms()))
