"""``why.…``: why a pod is not on a node, what would make it fit, and a copy with that change applied."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import TypeVar

from playground.calls.requests import OfSource, Text
from playground.edits import branches, drafts
from playground.limits import limit
from playground.live.commands import Answer, Call, command
from playground.live.errors import CommandError
from playground.live.slices import in_slices
from playground.panels.why import WhyQuestion, applying, explaining, why
from playground.playback import sources
from playground.playback.playback import Playback
from playground.protocol.why import WhyAnswerWire, WhyAppliedWire
from playground.wire import Encoded, encode
from scheduler_core.explain.remedy import Remedy
from scheduler_core.explain.trial import Copy

T = TypeVar("T")


class WhyAsk(OfSource):
    pod: Text
    step: Text
    node: Text | None = None


@command("why.ask", WhyAsk, answers=WhyAnswerWire, latest=1, framed="step")
async def ask(call: Call[WhyAsk]) -> Answer:
    """Return why a pod is on its node after a step, or not on a node; the newest question counts."""
    answer = await _asked(call, explaining, _late)
    return Encoded(encode(why(answer)))


def _late() -> None:
    raise CommandError("why.too-large", "The explanation takes too long; ask about a single node.")


class WhyApply(OfSource):
    pod: Text
    step: Text
    change: Text
    node: Text | None = None


@command("why.apply", WhyApply, answers=WhyAppliedWire, visitor=True, throttle="IMPORTS_PER_MINUTE")
async def apply(call: Call[WhyApply]) -> Answer:
    """Create a draft with a change that ``why.ask`` offered; return which of its cycles places the pod."""
    until = time.monotonic() + limit("WHY_SECONDS")
    wanted = call.payload.change

    def work(
        playback: Playback, question: WhyQuestion
    ) -> Generator[None, None, tuple[Remedy, Copy | None] | None]:
        return applying(playback, question, wanted, lambda: time.monotonic() > until)

    applied = await _asked(call, work, lambda: None)
    if applied is None or applied[1] is None:
        raise CommandError("change.not-found")
    change, made = applied[0], applied[1]
    draft = await call.in_engine(_draft, call.found(), call.visitor, change, made, call.payload.step)
    return {"draft": draft, "url": f"/p/{draft}/", **made.as_dict(), "words": list(change.words)}


def _draft(source: sources.Source, visitor: str, change: Remedy, made: Copy, step: str) -> str:
    title = f"{source.title or 'Untitled'}: {change.words[0]}"
    origin = branches.origin_of(source, step, tuple(change.words))
    return drafts.copy_of(source, visitor, made, title, origin).pk


async def _asked(
    call: Call[WhyAsk] | Call[WhyApply],
    begin: Callable[[Playback, WhyQuestion], Generator[None, None, T]],
    late: Callable[[], None],
) -> T:
    """Run a pausing generator about the call's question."""
    key, pod, node = call.found().key, call.payload.pod, call.payload.node or None
    return await in_slices(
        call, lambda playback, index: begin(playback, WhyQuestion(key, index, pod, node)), late
    )
