"""The origin of a request: a page of this server, a page of another one, or no page at all.

On behalf of any page, a browser sends the visitor's cookie and reaches servers that are only accessible from
this machine or network. It marks such requests: ``Sec-Fetch-Site`` on a trustworthy connection (TLS,
localhost), ``Origin`` with every WebSocket and every method but GET and HEAD. Scripts can set neither; other
programs send neither.

The port is part of an origin: a page at ``localhost:9000`` is as foreign as one on another machine.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host

from playground.limits import limit
from playground.serving.bodies import Application, AsgiScope, Receive, Send

PORTS = {"http": 80, "https": 443}
SECURE = frozenset({"https", "wss"})
#: Safe methods; browsers omit Origin with some of them.
SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
#: Sec-Fetch-Site of a page of this server, and of a user's own navigation. ``same-site`` is another origin of
#: the same domain.
OWN_SITES = frozenset({"same-origin", "none"})
#: What pages of learning platforms post: it is signed, or asks for a login and changes nothing.
SIGNED_FORMS = frozenset({"/lti/login/", "/lti/launch/"})
FOREIGN = (
    "A page of another site sent this request. Send it from a page of this server, or without a browser."
)


def scheme_of(direct: str, forwarded: str) -> str | None:
    """Return the scheme that the browser used; None if only an untrusted proxy could know it.

    ``direct`` is the scheme of the connection to this process, ``forwarded`` the X-Forwarded-Proto header.
    """
    if limit("TRUSTED_PROXIES") and forwarded:
        return forwarded.split(",", 1)[0].strip().lower()
    return "https" if direct in SECURE else None


def is_own(origin: str, host: str, scheme: str | None) -> bool:
    """Return whether an Origin header matches the scheme, host and port that a request was sent to.

    ``host`` is the Host header. A scheme of None matches both, each with its default port.
    """
    try:
        sender, target = urlsplit(origin), urlsplit(f"//{host}")
        if sender.scheme not in PORTS or scheme not in {None, sender.scheme}:
            return False
        default = PORTS[sender.scheme]
        same = (sender.hostname, sender.port or default) == (target.hostname, target.port or default)
    except ValueError:  # an invalid port or address
        return False
    name, _ = split_domain_port(host)
    return same and validate_host(name, settings.ALLOWED_HOSTS)


def is_foreign(request: HttpRequest) -> bool:
    """Return whether a state-changing request was sent by a page of another origin."""
    if request.method in SAFE or request.path in SIGNED_FORMS:
        return False
    if site := request.headers.get("Sec-Fetch-Site"):
        return site not in OWN_SITES
    origin = request.headers.get("Origin")
    if origin is None:
        return False
    scheme = scheme_of(str(request.scheme), request.headers.get("X-Forwarded-Proto", ""))
    return not is_own(origin, request.get_host(), scheme)


class OwnOrigin:
    """Refuses WebSockets not opened by a page of this server, before the handshake completes (HTTP 403).

    A connection without an Origin is refused, too: programs have to send the server's.
    """

    def __init__(self, application: Application) -> None:
        """Guard ``application``."""
        self.application = application

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Forward the connection to the application, or refuse it."""
        answering: Any = self.application if _admits(scope) else WebsocketDenier()
        await answering(scope, receive, send)


def _admits(scope: AsgiScope) -> bool:
    def of(name: bytes) -> str:
        return ",".join(value.decode("latin-1") for key, value in scope["headers"] if key == name)

    scheme = scheme_of(scope.get("scheme", "ws"), of(b"x-forwarded-proto"))
    return is_own(of(b"origin"), of(b"host"), scheme)
