"""``scores.…``: how one priority's score on one node was computed."""

from __future__ import annotations

from playground.calls.requests import Index, OfSource
from playground.live.commands import Answer, Call, Unwanted, command
from playground.live.errors import CommandError
from playground.panels.priorities import explained
from playground.playback.playback import SLICE_SECONDS, Playback
from playground.protocol.matrices import ExplanationWire
from playground.wire import Encoded, encode


class ScoresExplain(OfSource):
    cycle: Index
    node: Index
    priority: Index


@command("scores.explain", ScoresExplain, answers=ExplanationWire, latest=2, framed="step", unveiled=True)
async def explain(call: Call[ScoresExplain]) -> Answer:
    """Return the arithmetic of one cell of the matrix, with the numbers of its node at that cycle."""
    index, node, priority = (call.payload.cycle, call.payload.node, call.payload.priority)

    def turn(playback: Playback, unwanted: Unwanted) -> Encoded | None:
        if len(playback) < index and playback.advance(SLICE_SECONDS):
            return None
        cycle = playback.cycle(index, unwanted)
        if priority >= len(cycle.priorities):
            raise CommandError("payload.invalid", "No such priority was run in this cycle.", field="priority")
        place = playback.place(cycle).node_at
        with playback.before(index) as simulation:
            answer = explained(cycle, simulation, place, node, priority)
        if answer is None:
            raise CommandError("payload.invalid", "That node was not ranked in this cycle.", field="node")
        return Encoded(encode({"index": index, "node": node, "priority": priority, **answer}))

    return await call.in_turns(turn)
