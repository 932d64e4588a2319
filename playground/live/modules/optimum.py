"""``optimum.get``: the best placement of a step, beside what schedulers place; searched in the pool."""

from __future__ import annotations

from playground.calls.requests import Index, Leaf, OfSource, Texts
from playground.comparisons import greed
from playground.live.commands import Answer, Call, command
from playground.live.kept import answer_of
from playground.protocol.optimum import GreedWire


class OptimumGet(OfSource):
    step: Index | None = None
    objectives: Texts | None = None
    seconds: Index | None = None
    move: Leaf | None = None
    evict: Leaf | None = None


@command("optimum.get", OptimumGet, answers=GreedWire, latest=1)
async def get(call: Call[OptimumGet]) -> Answer:
    """Return the optimum with its proof and moves, and what each scheduler places."""
    named = ("step", "seconds", "move", "evict")
    query = {name: str(value) for name in named if (value := getattr(call.payload, name)) is not None}
    asked = greed.question_of(call.found().pinned(), query, call.payload.objectives or ())
    with greed.refused():
        return await answer_of(call, asked, greed.computed)
