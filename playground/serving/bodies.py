"""A limit on the size of HTTP bodies, enforced before a body that is too large is buffered.

Django reads the whole body before it calls a view; this application wraps Django's.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from playground.limits import limit

AsgiScope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]  # Django and Channels type the three differently

MESSAGE = "The body is too large. Compress it with gzip or send less."
BODY = json.dumps({"errors": [{"line": None, "path": "", "message": MESSAGE}]}).encode()


class TooLong(Exception):  # noqa: N818 - a signal within this module
    """The body is longer than the limit."""


def most_bytes() -> int:
    """Return the limit in bytes: a bundle of the largest size, plus the overhead of JSON or multipart."""
    return limit("BUNDLE_BYTES") * 5 // 4 + 65_536


def bounded(application: Application) -> Application:
    """Wrap ``application`` to answer 413 to a request whose body is longer than a bundle may be."""

    async def guard(scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length[:19]) > most_bytes():
            await _refuse(send)
            return
        seen = 0
        started = False

        async def counted() -> MutableMapping[str, Any]:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most_bytes():  # a chunked body, or one longer than its Content-Length
                raise TooLong
            return message

        async def noted(message: MutableMapping[str, Any]) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await application(scope, counted, noted)
        except TooLong:
            if not started:
                await _refuse(send)

    return guard


async def _refuse(send: Send) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(BODY)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": BODY})
