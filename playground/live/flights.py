"""One computation for all concurrent callers with the same request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Generic, TypeVar

from playground.playback.deadlines import Superseded

T = TypeVar("T")


class Flights(Generic[T]):
    """The computations in progress by request; for one event loop. Results are not kept."""

    def __init__(self) -> None:
        self._under_way: dict[Hashable, asyncio.Future[T | None]] = {}

    def __len__(self) -> int:
        return len(self._under_way)

    async def join(
        self,
        asked: Hashable,
        start: Callable[[], Awaitable[T | None]],
        place: AbstractAsyncContextManager[Any] | None = None,
    ) -> T | None:
        """Return the result of ``start()``, or of a concurrent call with the same ``asked``.

        ``place`` is entered before ``start`` is called. A caller waiting for its place delays no others: they
        wait only for calls that have started. An error is raised to all; if the computing caller is
        superseded or cancelled the others get ``None``, as they do if there is no answer yet, and ask again.
        """
        flight = self._under_way.get(asked)
        if flight is None:
            async with place or nullcontext():
                flight = self._under_way.get(asked)
                if flight is None:
                    return await self._lead(asked, start)
        return await asyncio.shield(flight)  # cancelling one waiter does not affect the others

    async def _lead(self, asked: Hashable, start: Callable[[], Awaitable[T | None]]) -> T | None:
        flight = self._under_way[asked] = asyncio.get_running_loop().create_future()
        try:
            answer = await start()
        except Superseded:
            raise
        except Exception as error:
            flight.set_exception(error)
            flight.exception()  # raised here as well: there may be no other waiter
            raise
        else:
            flight.set_result(answer)
            return answer
        finally:
            del self._under_way[asked]
            if not flight.done():  # superseded or cancelled
                flight.set_result(None)
