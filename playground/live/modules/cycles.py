"""``timeline.…``, ``cycles.…``, ``cycle.…``, ``events.…``: reading what is played."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playground import sources
from playground.limits import limit
from playground.live.commands import Answer, Call, command
from playground.live.errors import CommandError
from playground.panels.cycle import PARTS
from playground.panels.events import history
from playground.playback.executor import in_engine
from playground.playback.playback import OutOfRangeError
from playground.wire import Encoded, encode

# `from` is a word of Python's, and so cannot be written as an argument.
WINDOW = {"from": "index", "count": "index"}
WINDOWS_AT_ONCE = 4  # a client reads ahead on both sides of where it is


@command("timeline.get", source="source", **{"from": "index", "to": "index"})  # type: ignore[arg-type]
async def timeline(call: Call) -> Answer:
    """Answer the marks of cycles ``from`` to ``to``."""
    return await in_engine(_timeline, call.found(), call.payload["from"], call.payload["to"])


def _timeline(source: sources.Source, first: int, last: int) -> dict[str, Any]:
    playback = sources.open_playback(source)
    first = max(first, 1)
    playback.reach(min(last, first + limit("MARKS") - 1))
    last = min(last, len(playback), first + limit("MARKS") - 1)
    return {"from": first, "marks": playback.trail.marks(first, last)}


@command("cycles.window", source="source", latest=WINDOWS_AT_ONCE, **WINDOW)  # type: ignore[arg-type]
async def window(call: Call) -> Answer:
    """Answer consecutive light cycles and every pod's node before the first of them."""
    count = min(call.payload["count"], limit("WINDOW_CYCLES"))
    unwanted = call.connection.unwanted("cycles.window", call.request)
    return await in_engine(_window, call.found(), call.payload["from"], count, unwanted)


def _window(source: sources.Source, first: int, count: int, unwanted: Callable[[], bool]) -> Encoded:
    playback = sources.open_playback(source)
    playback.reach(first + count - 1)
    return playback.window(max(first, 1), count, unwanted)


@command("cycle.get", source="source", latest=1, step="text", parts="texts")
async def cycle(call: Call) -> Answer:
    """Answer parts of one cycle; of several requests only the newest is worth computing."""
    parts = call.payload["parts"]
    if unknown := [part for part in parts if part not in PARTS]:
        raise CommandError("payload.invalid", f"There is no part {unknown[0][:40]!r}.", field="parts")
    unwanted = call.connection.unwanted("cycle.get", call.request)
    return await in_engine(_cycle, call.found(), call.payload["step"], parts, unwanted)


def _cycle(source: sources.Source, step: str, parts: list[str], unwanted: Callable[[], bool]) -> Encoded:
    playback = sources.open_playback(source)
    try:
        index = playback.seek(step)
    except ValueError as error:
        raise CommandError("payload.invalid", str(error), field="step") from error
    if not index:
        raise OutOfRangeError(f"There is no cycle {step[:24]}; there are {len(playback):,}.")
    return Encoded(encode(playback.parts(index, parts, unwanted)))


@command("events.list", source="source", latest=1, to="index", count="index")
async def events(call: Call) -> Answer:
    """Answer the newest events up to a cycle."""
    count = min(call.payload["count"], limit("EVENTS"))
    unwanted = call.connection.unwanted("events.list", call.request)
    return await in_engine(_events, call.found(), call.payload["to"], count, unwanted)


def _events(source: sources.Source, to: int, count: int, unwanted: Callable[[], bool]) -> dict[str, Any]:
    playback = sources.open_playback(source)
    playback.reach(to)
    return history(playback.cycle, min(to, len(playback)), count, unwanted)
