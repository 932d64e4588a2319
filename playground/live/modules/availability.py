"""``availability.…``: the workloads over time."""

from __future__ import annotations

from collections.abc import Hashable

from playground.calls.requests import OfSource
from playground.live.commands import Answer, Call, Unwanted, command
from playground.playback.playback import SLICE_SECONDS, Playback
from playground.protocol.availability import OverTimeWire
from playground.wire import Encoded, encode
from scheduler_core.kubernetes.plain import plain


def _asked(playback: Playback, payload: OfSource) -> Hashable:
    del payload
    return True if playback.complete else None


@command("availability.get", OfSource, answers=OverTimeWire | None, latest=1, kept=_asked)
async def get(call: Call[OfSource]) -> Answer:
    """Return the availability of workloads as far as cycles are computed."""

    def turn(playback: Playback, unwanted: Unwanted) -> Encoded | None:
        if not len(playback) and playback.advance(SLICE_SECONDS):
            return None
        found, known = playback.availability(unwanted), len(playback)
        return Encoded(encode(None if found is None else {"known": known, **plain(found)}))

    return await call.in_turns(turn)
