"""``cycle.find``: the next or previous cycle for which a condition holds."""

from __future__ import annotations

import asyncio
import time

from playground.calls.requests import Request, Source
from playground.limits import limit
from playground.live.commands import Answer, Call, Unwanted, command
from playground.playback.cycle_search import Finder, FoundCycle, Search, Searching, SearchRequest
from playground.playback.deadlines import Superseded
from playground.playback.playback import SLICE_SECONDS, Playback
from playground.protocol.answers import NothingWire
from playground.protocol.cycles import FoundWire

PROGRESS_SECONDS = 0.25  # between two progress frames of a search


class CycleFind(SearchRequest, kw_only=True):
    source: Source


@command("cycle.find", CycleFind, answers=FoundWire, latest=1, framed="run")
async def find(call: Call[CycleFind]) -> Answer:
    """Return the nearest cycle for which a condition holds; pushes ``cycle.searched`` meanwhile."""
    search = Search.of(call.payload)
    loop = asyncio.get_running_loop()
    searching: Searching | None = None
    until, pushed_at = time.monotonic() + limit("FIND_SECONDS"), time.monotonic()

    def push(index: int) -> None:
        report = {"source": call.found().asked, "request": call.request, "index": index}
        call.connection.push("cycle.searched", report)

    def turn(playback: Playback, unwanted: Unwanted) -> FoundCycle | None:
        nonlocal searching, pushed_at
        searching = searching or Finder(playback, search, unwanted).run()
        began, seen = time.monotonic(), search.start
        try:
            while time.monotonic() - began < SLICE_SECONDS:
                if unwanted():
                    raise Superseded
                seen = next(searching)
        except StopIteration as end:
            found: FoundCycle = end.value
            return found
        if time.monotonic() > until:
            return FoundCycle(0, (), seen, over=False)
        if time.monotonic() - pushed_at > PROGRESS_SECONDS:
            pushed_at = time.monotonic()
            loop.call_soon_threadsafe(push, seen)
        return None

    return (await call.in_turns(turn)).wire()


@command("cycle.cancel", Request, answers=NothingWire, framed="step")
async def cancel(call: Call[Request]) -> Answer:
    """Cancel this connection's search; its request is answered ``request.superseded``."""
    call.connection.give_up("cycle.find")
    return {}
