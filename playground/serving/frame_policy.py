"""What a page has to do with other sites: who may frame it, and where its forms go; none without its view."""

from __future__ import annotations

from typing import TypeVar

from django.http import HttpResponseBase

R = TypeVar("R", bound=HttpResponseBase)
NOBODY = "'none'"
ANYBODY = "*"
_BY = "framed_by"
_TO = "posts_to"


def framed(response: R, by: str) -> R:
    """Return the response, which the sites of ``by`` may frame: sources as of ``frame-ancestors``."""
    setattr(response, _BY, by)
    response.xframe_options_exempt = True  # type: ignore[attr-defined]
    return response


def framed_by(response: HttpResponseBase) -> str:
    """Return who may frame a response."""
    return str(getattr(response, _BY, NOBODY))


def posting(response: R, to: str) -> R:
    """Return the response, whose forms may be sent to the origins ``to`` beside this server."""
    setattr(response, _TO, to)
    return response


def posts_to(response: HttpResponseBase) -> str:
    """Return the other origins that forms of a response may be sent to."""
    return str(getattr(response, _TO, ""))
