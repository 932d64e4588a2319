"""A client of the socket's commands inside the process: what is recorded is what a page is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from playground.calls.requests import read
from playground.live import modules  # noqa: F401 - importing them registers the commands
from playground.live.commands import COMMANDS, Call
from playground.live.errors import CommandError
from playground.live.halls import Veil
from playground.live.notifications import Watching
from playground.live.page_context import Frame
from playground.playback.deadlines import never
from playground.playback.sources import Source
from playground.wire import Encoded, encode

T = TypeVar("T")


class LocalClient:
    """Runs each command where it is called, one at a time, without a visitor and without the database."""

    visitor = ""
    address = ""
    closed = False
    frame: Frame | None = None
    asker = ""

    def __init__(self, source: Source, veil: Veil | None = None) -> None:
        self.source = source
        self.veil = veil
        self.watching = Watching(self)
        self.admitted = asyncio.Event()

    async def answer(self, command: str, **payload: Any) -> str:
        """Return the answer to a command on the source as JSON.

        Raises what the command raises: a CommandError, also for what a veil hides, an OutOfRangeError, a
        BundleError.
        """
        row = COMMANDS[command]
        if self.veil is not None and not row.unveiled:
            raise CommandError("room.question-open")
        asked = read(row.takes, {"source": self.source.wire, **payload})
        answer = await row.answer(Call(self, command, 0, asked, self.source, veil=self.veil))
        return answer if isinstance(answer, Encoded) else encode(answer)

    def push(self, name: str, payload: Any, *, latest: bool = False) -> None:
        """Drop a frame that is not an answer."""

    def push_text(self, text: str, slot: str = "", sent: bytes | None = None) -> None:
        """Drop a frame that is not an answer."""

    def unwanted(self, name: str, request: int) -> Callable[[], bool]:
        """Return a test that is never true: every answer is recorded."""
        return never

    def give_up(self, name: str) -> None:
        """Do nothing: no other request is in progress."""

    def cancel(self, request: int) -> None:
        """Do nothing: no other request is in progress."""

    async def in_parsing(self, call: Callable[..., T], *args: Any) -> T:
        """Call it here."""
        return call(*args)

    in_waiting = in_engine = in_parsing

    async def in_engine_once(self, asked: Hashable, call: Callable[[], T | None]) -> T | None:
        """Call it here."""
        return call()
