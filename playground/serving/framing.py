"""Which sites may show a page in a frame of theirs: none, unless its view says so."""

from __future__ import annotations

from typing import TypeVar

from django.http import HttpResponseBase

R = TypeVar("R", bound=HttpResponseBase)
NOBODY = "'none'"
ANYBODY = "*"
_BY = "framed_by"


def framed(response: R, by: str) -> R:
    """Return the response, which the sites of ``by`` may frame: sources as of ``frame-ancestors``."""
    setattr(response, _BY, by)
    response.xframe_options_exempt = True  # type: ignore[attr-defined]
    return response


def framed_by(response: HttpResponseBase) -> str:
    """Return who may frame a response."""
    return str(getattr(response, _BY, NOBODY))
