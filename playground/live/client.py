"""The connection that a command came by, as commands use it; the consumer is one."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

from playground.live.watching import Watcher

T = TypeVar("T")


class Client(Watcher, Protocol):
    """Who asks, which requests were given up, and the threads that answer within the connection's share."""

    address: str
    closed: bool

    @property
    def asker(self) -> str:
        """By whom shares are counted: the visitor, or the address of a client without the cookie."""

    def unwanted(self, name: str, request: int) -> Callable[[], bool]:
        """Return a test, for any thread, whether newer requests replaced this one or the client left."""

    def give_up(self, name: str) -> None:
        """Want no answer any more to the requests of a command that are under way."""

    def cancel(self, request: int) -> None:
        """Want no answer any more to one request; nothing happens where it is answered already."""

    async def in_parsing(self, call: Callable[..., T], *args: Any) -> T:
        """Run ``call``, which reads a bundle, in a parsing thread."""

    async def in_waiting(self, call: Callable[..., T], *args: Any) -> T:
        """Run ``call`` in a thread that waits for the pool."""

    async def in_engine(self, call: Callable[..., T], *args: Any) -> T:
        """Run ``call`` in an engine thread."""

    async def in_engine_once(self, asked: Hashable, call: Callable[[], T | None]) -> T | None:
        """Run ``call`` as :meth:`in_engine` does, once for all connections that ask the same at once."""
