"""The connection that a command arrived on, as commands use it; the consumer implements it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

from playground.live.halls import Veil
from playground.live.notifications import Watcher
from playground.live.page_context import Frame

T = TypeVar("T")


class Client(Watcher, Protocol):
    """The visitor, the cancelled requests, and the threads that answer within the connection's share."""

    address: str
    closed: bool
    frame: Frame | None  # of a page in another page's frame
    admitted: asyncio.Event  # set unless the page is a room's and has not joined it yet

    @property
    def veil(self) -> Veil | None:
        """What is hidden from this connection: it is a viewer of an open question, or a frame with a veil."""

    @property
    def asker(self) -> str:
        """The key for fair shares: the visitor, or the address of a client without the cookie."""

    def unwanted(self, name: str, request: int) -> Callable[[], bool]:
        """Return a thread-safe test for whether newer requests superseded this one or the client left."""

    def give_up(self, name: str) -> None:
        """Discard the requests of a command that are in progress."""

    def cancel(self, request: int) -> None:
        """Cancel one request; a request that is already answered is ignored."""

    async def in_parsing(self, call: Callable[..., T], *args: Any) -> T:
        """Run ``call``, which parses a bundle, in a parsing thread."""

    async def in_waiting(self, call: Callable[..., T], *args: Any) -> T:
        """Run ``call`` in a thread that waits for the pool."""

    async def in_engine(self, call: Callable[..., T], *args: Any) -> T:
        """Run ``call`` in an engine thread."""

    async def in_engine_once(self, asked: Hashable, call: Callable[[], T | None]) -> T | None:
        """Run ``call`` as :meth:`in_engine` does, once for all concurrent identical requests."""
