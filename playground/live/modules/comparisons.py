"""``compare.…``: two sources side by side."""

from __future__ import annotations

from playground.calls.requests import Fields, Request, Text
from playground.comparisons import differences
from playground.comparisons.address import with_sides
from playground.live.commands import Answer, Call, command
from playground.live.errors import CommandError
from playground.live.sightings import sightings
from playground.playback.executor import in_storage
from playground.protocol.comparisons import ComparisonWire
from playground.wire import Encoded


class CompareGet(Request):
    left: Fields
    right: Fields
    left_scheduler: Text | None = None
    right_scheduler: Text | None = None


@command("compare.get", CompareGet, answers=ComparisonWire, latest=1, decisions=True)
async def get(call: Call[CompareGet]) -> Answer:
    """Return where two sources first decide differently, where pods end, and the metrics of both."""
    sides = [
        differences.Side(
            (await sightings.find(getattr(call.payload, name), call.visitor)).pinned(),
            getattr(call.payload, f"{name}_scheduler") or "",
        )
        for name in ("left", "right")
    ]
    try:
        question = differences.ComparisonQuestion(sides[0], sides[1])
        body = question.kept() or question.answered(await _compared(call, question))
    except differences.UnfinishedError as error:
        raise CommandError("step.out-of-range", str(error)) from error
    if question.slow:
        await in_storage(differences.remember, question, body)
    return with_sides(question, body)


async def _compared(call: Call[CompareGet], question: differences.ComparisonQuestion) -> Encoded:
    if question.stored:
        return await call.in_engine(differences.from_decisions, question)
    stored = [await in_storage(side.source.stored) for side in question.sides]
    schedulers = (question.left.scheduler, question.right.scheduler)
    return await call.in_pool(differences.computed, *stored, schedulers, large=question.large)
