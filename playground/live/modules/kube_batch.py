"""``kubebatch.…``: the steps of a session of kube-batch, page by page."""

from __future__ import annotations

from msgspec import field

from playground.calls.requests import Index, OfSource, Text
from playground.live.commands import Answer, Call, Unwanted, command
from playground.live.errors import CommandError
from playground.panels.session import record_of
from playground.panels.session_steps import page
from playground.playback.playback import SLICE_SECONDS, Playback
from playground.protocol.answers import IndexedStepsWire
from playground.wire import Encoded, encode


class KubebatchSteps(OfSource):
    cycle: Index
    action: Text
    job: Text
    first: Index = field(name="from")
    count: Index


@command("kubebatch.steps", KubebatchSteps, answers=IndexedStepsWire, latest=1, framed="step", unveiled=True)
async def steps(call: Call[KubebatchSteps]) -> Answer:
    """Return the steps ``from`` and following of those of an action and of a job; "" for any."""
    wanted = call.payload

    def turn(playback: Playback, unwanted: Unwanted) -> Encoded | None:
        if len(playback) < wanted.cycle and playback.advance(SLICE_SECONDS):
            return None
        record = record_of(playback.cycle(wanted.cycle, unwanted))
        if record is None:
            raise CommandError("payload.invalid", "This step is not a session of kube-batch.", field="cycle")
        found = page(record, wanted.first, wanted.count, action=wanted.action, job=wanted.job[:1000])
        return Encoded(encode({"index": wanted.cycle, **found}))

    return await call.in_turns(turn)
