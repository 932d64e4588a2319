"""``why.…``: why a pod is not on a node, what would make it fit, and a copy with that change applied."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import TypeVar

from playground.edits import branching, drafting
from playground.limits import limit
from playground.live.commands import Answer, Call, Unwanted, command
from playground.live.errors import CommandError
from playground.panels.why import WhyQuestion, applying, explaining, why
from playground.playback import sources
from playground.playback.playback import SLICE_SECONDS, OutOfRangeError, Playback
from playground.playback.stopping import Superseded
from playground.protocol.why import WhyAnswerWire, WhyAppliedWire
from playground.wire import Encoded, encode
from scheduler_core.explain import ExplainError
from scheduler_core.explain.copying import Copy
from scheduler_core.explain.remedy import Remedy

T = TypeVar("T")
ERROR_SHOWN = 500  # characters
CODES = {"pod": "pod.not-found", "node": "node.not-found", "step": "step.out-of-range"}


@command("why.ask", answers=WhyAnswerWire, source="source", latest=1, pod="text", node="text?", step="text")
async def ask(call: Call) -> Answer:
    """Return why a pod is on its node after a step, or not on a node; the newest question counts."""
    answer = await _in_slices(call, explaining, _late)
    return Encoded(encode(why(answer)))


def _late() -> None:
    raise CommandError("why.too-large", "The explanation takes too long; ask about a single node.")


@command(
    "why.apply",
    answers=WhyAppliedWire,
    source="source",
    visitor=True,
    throttle="IMPORTS_PER_MINUTE",
    pod="text",
    node="text?",
    step="text",
    change="text",
)
async def apply(call: Call) -> Answer:
    """Create a draft with a change that ``why.ask`` offered; return which of its cycles places the pod."""
    until = time.monotonic() + limit("WHY_SECONDS")
    wanted = call.payload["change"]

    def work(
        playback: Playback, question: WhyQuestion
    ) -> Generator[None, None, tuple[Remedy, Copy | None] | None]:
        return applying(playback, question, wanted, lambda: time.monotonic() > until)

    applied = await _in_slices(call, work, lambda: None)
    if applied is None or applied[1] is None:
        raise CommandError("change.not-found")
    change, made = applied[0], applied[1]
    draft = await call.in_engine(_draft, call.found(), call.visitor, change, made, call.payload["step"])
    return {"draft": draft, "url": f"/p/{draft}/", **made.as_dict(), "words": list(change.words)}


def _draft(source: sources.Source, visitor: str, change: Remedy, made: Copy, step: str) -> str:
    title = f"{source.title or 'Untitled'}: {change.words[0]}"
    origin = branching.origin_of(source, step, tuple(change.words))
    return drafting.copy_of(source, visitor, made, title, origin).pk


async def _in_slices(
    call: Call,
    begin: Callable[[Playback, WhyQuestion], Generator[None, None, T]],
    late: Callable[[], None],
) -> T:
    """Run a pausing generator in turns of one slice, so that others get their turn in between."""
    step, key = call.payload["step"], call.found().key
    pod, node = call.payload["pod"], call.payload.get("node") or None
    until = time.monotonic() + limit("WHY_SECONDS")
    work: Generator[None, None, T] | None = None

    def turn(playback: Playback, unwanted: Unwanted) -> tuple[T] | None:
        nonlocal work
        if work is None:
            index = _resolved(playback, step)
            if index is None:
                return None
            work = begin(playback, WhyQuestion(key, index, pod, node))
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
