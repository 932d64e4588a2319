"""One computation for all who ask the same at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Generic, TypeVar

from playground.playback.playback import Superseded

T = TypeVar("T")


class Flights(Generic[T]):
    """What is under way, by what was asked; for one event loop. What is answered is not held."""

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
        """Return what ``start()`` returns, or what that of another caller with the same ``asked`` does.

        ``place`` is entered before ``start`` is called. A caller waiting for its place delays nobody else:
        only what has begun is waited for. An error is raised to all; where the caller that computes is
        superseded or cancelled the others get None, as they do where there is no answer yet, and ask again.
        """
        flight = self._under_way.get(asked)
        if flight is None:
            async with place or nullcontext():
                flight = self._under_way.get(asked)
                if flight is None:
                    return await self._lead(asked, start)
        return await asyncio.shield(flight)  # one that leaves takes nothing away from the others

    async def _lead(self, asked: Hashable, start: Callable[[], Awaitable[T | None]]) -> T | None:
        flight = self._under_way[asked] = asyncio.get_running_loop().create_future()
        try:
            answer = await start()
        except Superseded:
            raise
        except Exception as error:
            flight.set_exception(error)
            flight.exception()  # raised here as well: nobody else need have waited for it
            raise
        else:
            flight.set_result(answer)
            return answer
        finally:
            del self._under_way[asked]
            if not flight.done():  # superseded or cancelled
                flight.set_result(None)
