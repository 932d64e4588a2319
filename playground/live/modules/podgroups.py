"""``podgroup.…``: any PodGroup in its state after a cycle."""

from __future__ import annotations

from collections.abc import Hashable

from playground.calls.requests import Index, OfSource, Text
from playground.live.commands import Answer, Call, Unwanted, command
from playground.live.errors import CommandError
from playground.panels.podgroups import group
from playground.playback.playback import SLICE_SECONDS, Playback
from playground.protocol.answers import IndexedGroupWire
from playground.wire import Encoded, encode
from scheduler_core.schedulers.coscheduling.podgroup_status import groups_of, standing


def _asked(playback: Playback, payload: PodgroupGet) -> Hashable:
    return (payload.cycle, payload.group) if playback.settled(payload.cycle) else None


class PodgroupGet(OfSource):
    cycle: Index
    group: Text


@command(
    "podgroup.get", PodgroupGet, answers=IndexedGroupWire, latest=1, kept=_asked, framed="step", unveiled=True
)
async def get(call: Call[PodgroupGet]) -> Answer:
    """Return a PodGroup, its members and its timers after a cycle; 0: before the first."""
    index, key = call.payload.cycle, call.payload.group

    def turn(playback: Playback, unwanted: Unwanted) -> Encoded | None:
        if len(playback) < index and playback.advance(SLICE_SECONDS):
            return None
        with playback.after(index, unwanted) as simulation:
            framework = simulation.observed
            record = standing(framework, key) if framework is not None else None
            groups = groups_of(framework) if framework is not None else None
        if record is None or groups is None:
            raise CommandError("podgroup.not-found", f"There is no PodGroup {key[:300]} after this cycle.")
        answer = group(record, groups.table, scheduled=groups.coscheduling, attempted=False)
        return Encoded(encode({"index": index, **answer}))

    return await call.in_turns(turn)
