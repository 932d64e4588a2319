"""An ID for each request and connection, in its response and in its log lines.

The ID of a request (``X-Request-ID``), for example from a proxy, is used if it is short and plain; otherwise
one is generated. For what else is bound with the ID, and how a run gets it, see
:mod:`playground.runtime.log_context`.
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
    """Return the ID sent with a request, or a new one if it is missing or malformed."""
    given = next((value for name, value in headers if name == HEADER), b"")
    return given.decode() if _SANE.fullmatch(given) else secrets.token_hex(8)


class RequestIds:
    """An ASGI application that assigns an ID to each request and connection of ``app``."""

    def __init__(self, app: Application) -> None:
        """Wrap ``app``."""
        self.app = app

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Bind the ID in the task of this request or connection, and send it with the response."""
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
