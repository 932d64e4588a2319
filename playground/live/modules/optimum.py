"""``optimum.get``: the best placement of a step, beside what schedulers place; searched in the pool."""

from __future__ import annotations

from playground.comparisons import asking, greed
from playground.live.commands import Answer, Call, command
from playground.live.errors import CommandError
from playground.live.kept import answer_of
from playground.protocol.optimum import GreedWire


@command(
    "optimum.get",
    answers=GreedWire,
    source="source",
    latest=1,
    step="index?",
    objectives="texts?",
    seconds="index?",
    move="leaf?",
    evict="leaf?",
)
async def get(call: Call) -> Answer:
    """Return the optimum with its proof and moves, and what each scheduler places."""
    named = ("step", "seconds", "move", "evict")
    query = {name: str(call.payload[name]) for name in named if call.payload.get(name) is not None}
    try:
        asked = greed.question_of(call.found().pinned(), query, call.payload.get("objectives") or ())
        with greed.refused():
            return await answer_of(call, asked, greed.computed)
    except asking.AskedError as error:
        raise CommandError("payload.invalid", str(error), field=error.path) from error
