"""The cookie that tells a browser from others: a launch counts in the browser that asked for it.

A platform shows lessons in a frame of its page. There a browser sends only cookies that are for other sites'
frames too (``SameSite=None``), which it takes over TLS alone; some keep them apart for each site (CHIPS,
``Partitioned``), and some refuse them.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from http.cookies import Morsel
from typing import Any

from django.http import HttpRequest, HttpResponse

COOKIE = "podstep_lti"
AGE = 30 * 24 * 3600
_FORM = re.compile(r"[A-Za-z0-9_-]{32}")

if "partitioned" not in Morsel._reserved:  # type: ignore[attr-defined]  # noqa: SLF001 - until Python 3.14
    Morsel._reserved["partitioned"] = "Partitioned"  # type: ignore[attr-defined]  # noqa: SLF001
    Morsel._flags.add("partitioned")  # type: ignore[attr-defined]  # noqa: SLF001


def browser_of(request: HttpRequest) -> str:
    """Return what rows and states name the browser by, "" without the cookie."""
    value = request.COOKIES.get(COOKIE, "")
    return hashlib.sha256(value.encode()).hexdigest()[:32] if _FORM.fullmatch(value) else ""


def introduce(request: HttpRequest, response: HttpResponse) -> None:
    """Give a browser its cookie."""
    attributes: dict[str, Any] = {"max_age": AGE, "httponly": True}
    if not request.is_secure():  # for trying things out: a browser refuses SameSite=None without TLS
        response.set_cookie(COOKIE, secrets.token_urlsafe(24), **attributes)
        return
    response.set_cookie(COOKIE, secrets.token_urlsafe(24), secure=True, samesite="None", **attributes)
    response.cookies[COOKIE]["partitioned"] = True
