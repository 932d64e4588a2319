"""Work on a playback in turns of one slice, so that others get their turn in between."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from playground.limits import limit
from playground.live.commands import Call, Unwanted
from playground.live.errors import CommandError
from playground.playback.deadlines import Superseded
from playground.playback.playback import SLICE_SECONDS, OutOfRangeError, Playback
from scheduler_core.explain import ExplainError

T = TypeVar("T")
ERROR_SHOWN = 500  # characters
CODES = {
    "pod": "pod.not-found",
    "node": "node.not-found",
    "step": "step.out-of-range",
    "workload": "object.not-found",
    "kueue": "object.not-found",
    "manifest": "object.invalid",
}


async def in_slices(
    call: Call[Any], begin: Callable[[Playback, int], Generator[None, None, T]], late: Callable[[], None]
) -> T:
    """Run a pausing generator about the call's step; after ``WHY_SECONDS`` ``late`` may end it."""
    step, until = call.payload.step, time.monotonic() + limit("WHY_SECONDS")
    work: Generator[None, None, T] | None = None

    def turn(playback: Playback, unwanted: Unwanted) -> tuple[T] | None:
        nonlocal work
        if work is None:
            index = _resolved(playback, step)
            if index is None:
                return None
            work = begin(playback, index)
        began = time.monotonic()
        while time.monotonic() - began < SLICE_SECONDS:
            if unwanted():
                raise Superseded
            try:
                next(work)
            except StopIteration as end:
                return (end.value,)
            except ExplainError as error:
                raise CommandError(CODES[error.what], _sentence(str(error))) from error
        if time.monotonic() > until:
            late()
        return None

    (result,) = await call.in_turns(turn)
    return result


def _resolved(playback: Playback, step: str) -> int | None:
    """Return the index of a step, 0 before the first; ``None`` while it is not computed yet."""
    try:
        index = playback.resolve(step)
        if index is None and playback.advance(SLICE_SECONDS):
            return None
        index = playback.resolve(step)
    except ValueError as error:
        raise CommandError("payload.invalid", str(error), field="step") from error
    if index is None:
        raise OutOfRangeError(f"There is no cycle {step[:24]}; there are {len(playback):,}.")
    return index


def _sentence(text: str) -> str:
    text = text if len(text) <= ERROR_SHOWN else f"{text[:ERROR_SHOWN]}…"  # it may quote the request
    end = "" if text.endswith("?") else "."
    return f"{text[:1].upper()}{text[1:]}{end}"
