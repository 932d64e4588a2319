"""A name for each request and connection, in its answer and in its log lines.

A request may bring its name (``X-Request-ID``), as from a proxy, if it is short and plain; otherwise it is
given one. What else is bound beside the name, and how a run gets it: :mod:`playground.runtime.log_context`.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import MutableMapping
from typing import Any

from structlog.contextvars import bind_contextvars, clear_contextvars

from playground.serving.bodies import Application, AsgiScope, Receive, Send

HEADER = b"x-request-id"
NAMED = {"http": "request_id", "websocket": "connection_id"}
ANSWERS = ("http.response.start", "websocket.accept")
_SANE = re.compile(rb"[A-Za-z0-9._-]{1,64}")


def request_id_of(headers: list[tuple[bytes, bytes]]) -> str:
    """Return the name that a request brings, a new one where it brings none or one that is not sane."""
    given = next((value for name, value in headers if name == HEADER), b"")
    return given.decode() if _SANE.fullmatch(given) else secrets.token_hex(8)


class RequestIds:
    """An ASGI application that names what it hands to ``app``."""

    def __init__(self, app: Application) -> None:
        """Wrap ``app``."""
        self.app = app

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Bind the name for the task of this request or connection, and send it with the answer."""
        if scope["type"] not in NAMED:
            await self.app(scope, receive, send)
            return
        name = request_id_of(scope["headers"])
        clear_contextvars()
        bind_contextvars(**{NAMED[scope["type"]]: name})

        async def named(message: MutableMapping[str, Any]) -> None:
            if message["type"] in ANSWERS:
                kept = [pair for pair in message.get("headers", ()) if pair[0].lower() != HEADER]
                message = {**message, "headers": [*kept, (HEADER, name.encode())]}
            await send(message)

        await self.app(scope, receive, named)
