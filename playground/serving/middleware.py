"""Middleware: bans, security headers, the visitor of a request, and responses to outages."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.middleware.gzip import GZipMiddleware

from playground.runtime import outage
from playground.serving import origins
from playground.serving.error_pages import error_page, unavailable
from playground.serving.frame_policy import ANYBODY, NOBODY, framed_by, posts_to
from playground.storage.store import GoneError
from playground.visitors import bans, caller, identity, sessions
from playground.visitors.throttle import address_of, token_of

GetResponse = Callable[[HttpRequest], HttpResponse]

EMBED_PREFIX = "/e/"
PLAIN_PREFIXES = (
    "/api/",
    "/static/",
    "/healthz",
    "/readyz",
    "/metrics",
    EMBED_PREFIX,
    "/lti/",  # a platform's form comes without the visitor's cookie, which must not be replaced
)  # no visitor cookie is set here

_POLICY = {
    "default-src": "'self'",
    "script-src": "'self'",
    # An injected rule could read a page letter by letter. CodeMirror's <style> carries the response's nonce.
    "style-src": "'self'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "worker-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
}


@dataclass(slots=True)
class StyleNonce:
    """The nonce of a response's ``<style>`` elements, generated when a template renders it."""

    value: str = ""

    def __str__(self) -> str:
        """Return the nonce, the same on each call."""
        self.value = self.value or secrets.token_urlsafe(16)
        return self.value


def content_security_policy(*, ancestors: str = NOBODY, nonce: str = "", posts_to: str = "") -> str:
    """Return the header of a page that ``ancestors`` may frame; its forms may go to ``posts_to``, too."""
    rows = {**_POLICY, "frame-ancestors": ancestors}
    if posts_to:
        rows["form-action"] += f" {posts_to}"
    if nonce:
        rows["style-src"] += f" 'nonce-{nonce}'"
    return "; ".join(f"{key} {value}" for key, value in rows.items())


async def _in_parts(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Yield a file's parts, each read in a thread."""
    while (part := await asyncio.to_thread(next, parts, None)) is not None:
        yield part


class PagesPacked(GZipMiddleware):
    """Gzip pages, padded so that their length reveals nothing; files and API responses are unchanged."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Gzip an HTML page if the client accepts it."""
        if not response.headers.get("Content-Type", "").startswith("text/html"):
            return response
        return super().process_response(request, response)


def files(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Stream static files part by part; otherwise ASGI would load each one into memory first."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if isinstance(response, StreamingHttpResponse) and isinstance(request, ASGIRequest):
            parts = response.streaming_content
            if isinstance(parts, Iterator):
                response.streaming_content = _in_parts(parts)
        return response

    return middleware


def headers(get_response: GetResponse) -> GetResponse:
    """Add the Content-Security-Policy, and Secure to cookies sent over TLS.

    Other sites may frame ``/e/…``, and what a view lets them (:mod:`playground.serving.frame_policy`).
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        nonce = StyleNonce()
        request.style_nonce = nonce  # type: ignore[attr-defined]
        response = get_response(request)
        ancestors = ANYBODY if request.path.startswith(EMBED_PREFIX) else framed_by(response)
        response.headers.setdefault(
            "Content-Security-Policy",
            content_security_policy(ancestors=ancestors, nonce=nonce.value, posts_to=posts_to(response)),
        )
        response.headers.setdefault(
            "Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()"
        )
        if ancestors != NOBODY:
            response.headers.pop("X-Frame-Options", None)
        if request.is_secure():  # on plain http a browser would discard them
            for cookie in response.cookies.values():
                cookie["secure"] = True
        return response

    return middleware


class Refusals:
    """Refuse banned visitors before any work is done, and answer 410 for content that was taken down."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer 403 to a banned address, cookie or token."""
        if request.path != "/healthz":
            sessions.refresh()
        owners = (request.COOKIES.get(settings.VISITOR_COOKIE, ""), token_of(request))
        named = filter(None, map(identity.verify, filter(None, owners)))
        # The liveness probe must not depend on the database.
        refused = bans.known if request.path == "/healthz" else bans.refused
        if refused(address_of(request), *named):
            return error_page(request, 403, bans.MESSAGE, title="Refused")
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer a GoneError with 410, as JSON or as a page; leave other exceptions to other handlers."""
        return error_page(request, 410, str(exception)) if isinstance(exception, GoneError) else None


def own_pages(get_response: GetResponse) -> GetResponse:
    """Refuse with 403 a state-changing request sent by a page of another site, whatever its content type.

    A form or ``text/plain`` needs no CORS preflight, and the API requires no cookie: any page could start
    runs in its reader's name and from its reader's address.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if origins.is_foreign(request):
            return error_page(request, 403, origins.FOREIGN)
        return get_response(request)

    return middleware


def visitors(get_response: GetResponse) -> GetResponse:
    """Set ``request.visitor`` and the caller's address, and give a first-time visitor the cookie.

    A cookie signed with a key of ``SECRET_KEY_FALLBACKS`` is signed again. The API and embedded pages set no
    cookie: there ``request.visitor`` is the visitor of a valid cookie, or ``""``. A view that signs
    somebody in or out sets another ``request.visitor``, which is then the cookie's, in a new session.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        cookie = request.COOKIES.get(settings.VISITOR_COOKIE, "")
        visitor = known = identity.verify(cookie)
        written = not request.path.startswith(PLAIN_PREFIXES) and not identity.is_current(cookie)
        if written:
            visitor = visitor or identity.new_visitor()
        request.visitor = visitor  # type: ignore[attr-defined]
        caller.called_from(address_of(request))
        # A visitor created just now has no share: a client that drops its cookies would get many.
        with identity.asked_by(known or address_of(request)):
            response = get_response(request)
        exchanged = request.visitor != visitor  # type: ignore[attr-defined]
        if written or exchanged:
            session = sessions.new() if exchanged else identity.session_of(cookie) if known else ""
            response.set_cookie(
                settings.VISITOR_COOKIE,
                identity.sign(request.visitor, session),  # type: ignore[attr-defined]
                max_age=settings.VISITOR_COOKIE_AGE,
                httponly=True,
                samesite="Lax",
            )
        return response

    return middleware


class Outages:
    """Answer an outage of storage with 503, or 507 for a full disk, and ``Retry-After`` instead of 500."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Forward the request; a response below 500 of a page or the API counts as a success of storage."""
        response = self.get_response(request)
        if response.status_code < 500 and not request.path.startswith(PLAIN_PREFIXES[1:]):
            outage.requests.succeeded()
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer an exception of a view if it is an outage."""
        found = outage.cause_of(exception)
        if found is None:
            return None
        outage.requests.failed(exception)
        outage.disconnect()
        return unavailable(request, found)
