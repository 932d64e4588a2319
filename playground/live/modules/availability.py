"""``availability.…``: the workloads over time."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from playground.live.commands import Answer, Call, Unwanted, command
from playground.panels.availability import availability
from playground.playback.playback import SLICE_SECONDS, Playback
from playground.wire import Encoded, encode


def _asked(playback: Playback, payload: dict[str, Any]) -> Hashable:
    return (payload["kind"], payload["key"]) if playback.complete else None


@command("availability.get", source="source", latest=1, kept=_asked, kind="text", key="text")
async def get(call: Call) -> Answer:
    """Return the workloads as far as cycles are computed, with the whole series of one of them."""
    kind, key = call.payload["kind"], call.payload["key"]

    def turn(playback: Playback, unwanted: Unwanted) -> Encoded | None:
        if not len(playback) and playback.advance(SLICE_SECONDS):
            return None
        return Encoded(encode(availability(playback, (kind, key), unwanted)))

    return await call.in_turns(turn)
