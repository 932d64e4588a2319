"""``optimum.get``: the best placement of a step, beside what schedulers place; searched in the pool."""

from __future__ import annotations

from playground.calls.requests import Source
from playground.comparisons import greed
from playground.live.commands import Answer, Call, command
from playground.live.kept import answer_of
from playground.protocol.optimum import GreedWire


class OptimumGet(greed.OptimumRequest, kw_only=True):
    source: Source


@command("optimum.get", OptimumGet, answers=GreedWire, latest=1)
async def get(call: Call[OptimumGet]) -> Answer:
    """Return the optimum with its proof and moves, and what each scheduler places."""
    asked = greed.question_of(call.found().pinned(), call.payload)
    with greed.refused():
        return await answer_of(call, asked, greed.computed)
