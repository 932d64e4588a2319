"""Static files from memory: a workbench requests over a hundred, each of which costs Django milliseconds.

A response that Django sent once is sent again, with the same headers, by the event loop itself. Files do not
change while a server runs (WhiteNoise scans them once); under DEBUG they may, and this cache is off.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from playground.serving.bodies import Application, AsgiScope, Receive, Send

Header = tuple[bytes, bytes]

FILE_BYTES = 256 * 1024  # per file, as sent; larger ones are streamed by Django
ALL_BYTES = 24 * 1024 * 1024
#: Request headers that ask for something other than the whole file, or make the request conditional.
OTHER = {b"range", b"if-modified-since", b"if-range", b"if-match", b"if-unmodified-since"}
NOT_MODIFIED = {
    b"etag",
    b"cache-control",
    b"vary",
    b"last-modified",
    b"expires",
    b"date",
    b"content-location",
}


@dataclass(slots=True)
class KeptFile:
    """Headers and body of a file."""

    headers: list[Header] = field(default_factory=list)
    body: bytes = b""

    @property
    def etag(self) -> bytes:
        """Return the entity tag without its weakness prefix; empty if there is none."""
        return next((value for name, value in self.headers if name.lower() == b"etag"), b"").removeprefix(
            b"W/"
        )


class StaticCache:
    """An ASGI application that repeats the responses of ``app`` for static files from memory."""

    def __init__(self, app: Application) -> None:
        """Wrap ``app`` with an empty cache."""
        self.app = app
        self.answers: OrderedDict[tuple[str, bytes], KeptFile] = OrderedDict()
        self.bytes = 0

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer from memory, or let ``app`` answer and cache its response."""
        asked = {name.lower(): value for name, value in scope["headers"]}
        plain = scope["method"] == "GET" and not scope["query_string"] and OTHER.isdisjoint(asked)
        if not plain or not scope["path"].startswith(settings.STATIC_URL) or settings.DEBUG:
            await self.app(scope, receive, send)
            return
        key = scope["path"], asked.get(b"accept-encoding", b"")
        known = asked.get(b"if-none-match", b"")
        answer = self.answers.get(key)
        if answer is not None:
            self.answers.move_to_end(key)
            await _send(answer, known, send)
        elif known:  # Django may answer 304, which must not be cached
            await self.app(scope, receive, send)
        else:
            await self.app(scope, receive, _remembering(send, lambda new: self._keep(key, new)))

    def _keep(self, key: tuple[str, bytes], answer: KeptFile) -> None:
        """Cache a response; evict the least recently used ones."""
        before = self.answers.pop(key, None)
        self.bytes += len(answer.body) - (len(before.body) if before else 0)
        self.answers[key] = answer
        while self.bytes > ALL_BYTES:
            _, oldest = self.answers.popitem(last=False)
            self.bytes -= len(oldest.body)


async def _send(answer: KeptFile, known: bytes, send: Send) -> None:
    tags = {tag.strip().removeprefix(b"W/") for tag in known.split(b",")} - {b""}
    if tags and (answer.etag in tags or b"*" in tags):
        headers = [header for header in answer.headers if header[0].lower() in NOT_MODIFIED]
        await send({"type": "http.response.start", "status": 304, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    await send({"type": "http.response.start", "status": 200, "headers": answer.headers})
    await send({"type": "http.response.body", "body": answer.body})


def _remembering(send: Send, keep: Callable[[KeptFile], None]) -> Send:
    """Return a ``send`` that forwards messages and caches a complete 200 response that is small enough."""
    answer = KeptFile()
    whole = False

    async def passing(message: MutableMapping[str, Any]) -> None:
        nonlocal whole
        if message["type"] == "http.response.start":
            answer.headers = [(bytes(name), bytes(value)) for name, value in message.get("headers", ())]
            whole = message["status"] == 200
        elif whole:
            answer.body += message.get("body", b"")
            whole = len(answer.body) <= FILE_BYTES
            if whole and not message.get("more_body", False):
                keep(answer)
        await send(message)

    return passing
