"""``timeline.…``, ``cycles.…``, ``cycle.…``, ``preemption.…``, ``events.…``: reading a playback."""

from __future__ import annotations

from collections.abc import Hashable

from msgspec import field

from playground.calls.requests import Index, OfSource, Text, Texts
from playground.limits import limit
from playground.live.commands import Answer, Call, Unwanted, command
from playground.live.errors import CommandError
from playground.panels import steps
from playground.panels.cycle import INSPECT, PARTS
from playground.panels.events import history
from playground.panels.preemption import candidates, dry_run
from playground.playback.playback import SLICE_SECONDS, OutOfRangeError, Playback
from playground.protocol.answers import EventListWire, TimelineWindowWire
from playground.protocol.cycles import PartsWire, WindowWire
from playground.protocol.preemption import CandidatesWire, DryRunWire
from playground.wire import Encoded, encode
from scheduler_core.run.cycles import events_of

ALL_TABS = "inspect"  # stands for the parts of all tabs of Inspect
WINDOWS_AT_ONCE = 4  # a client prefetches on both sides of its position


class TimelineGet(OfSource):
    first: Index = field(name="from")
    to: Index


@command("timeline.get", TimelineGet, answers=TimelineWindowWire, framed="run", unveiled=True)
async def timeline(call: Call[TimelineGet]) -> Answer:
    """Return the marks of cycles ``from`` to ``to``."""
    first = max(call.payload.first, 1)
    if call.payload.first > call.payload.to:
        raise CommandError("payload.invalid", "from must be at most to.", field="from")
    to = min(call.payload.to, first + limit("MARKS") - 1)

    def turn(playback: Playback, _unwanted: Unwanted) -> Encoded | None:
        if not _reached(playback, to):
            return None
        marks = playback.trail.marks(first, min(to, len(playback)))
        return Encoded(encode({"from": first, "marks": marks}))

    return await call.in_turns(turn)


def _reached(playback: Playback, index: int) -> bool:
    """Compute a slice forward if needed; return whether cycle ``index`` exists or never will."""
    return len(playback) >= index or not playback.advance(SLICE_SECONDS) or len(playback) >= index


def _at_end(playback: Playback, index: int) -> bool:
    return playback.ended and index == len(playback) + 1


def _pods_known(playback: Playback, known: int | None) -> int | None:
    """Return how many pods the client knows if the answer depends on it: ``None`` if it knows all."""
    return None if known is None or known >= len(playback.tables.pods) else known


def _window_asked(playback: Playback, payload: CyclesWindow) -> Hashable:
    first, count = payload.first, min(payload.count, limit("WINDOW_CYCLES"))
    # A window from 0 is the same number of cycles from 1.
    if not playback.settled(max(first, 1) + count - 1):
        return None
    return first, count, _pods_known(playback, payload.pods)


def _cycle_asked(playback: Playback, payload: CycleGet) -> Hashable:
    try:
        index = playback.locate(payload.step)
    except ValueError:
        return None
    if not index or not playback.settled(index):
        return None
    return (index, *payload.parts, _pods_known(playback, payload.pods))


def _events_asked(playback: Playback, payload: EventsList) -> Hashable:
    to = payload.to
    return (to, min(payload.count, limit("EVENTS"))) if playback.settled(to) else None


class CyclesWindow(OfSource):
    first: Index = field(name="from")
    count: Index
    pods: Index | None = None


@command(
    "cycles.window",
    CyclesWindow,
    answers=WindowWire,
    latest=WINDOWS_AT_ONCE,
    kept=_window_asked,
    framed="window",
    unveiled=True,
)
async def window(call: Call[CyclesWindow]) -> Answer:
    """Return consecutive light cycles and every pod's node before the first of them."""
    first, count = call.payload.first, min(call.payload.count, limit("WINDOW_CYCLES"))

    def turn(playback: Playback, unwanted: Unwanted) -> Encoded | None:
        if not _reached(playback, first + count - 1):
            return None
        return steps.window(playback, max(first, 1), count, unwanted, call.payload.pods)

    return await call.in_turns(turn)


class CycleGet(OfSource):
    step: Text
    parts: Texts
    pods: Index | None = None


@command("cycle.get", CycleGet, answers=PartsWire, latest=1, kept=_cycle_asked, framed="step", unveiled=True)
async def cycle(call: Call[CycleGet]) -> Answer:
    """Return parts of one cycle, or of the end; only the newest of several requests is worth computing."""
    asked, known = call.payload.parts, call.payload.pods
    parts = list(dict.fromkeys(part for name in asked for part in (INSPECT if name == ALL_TABS else (name,))))
    if unknown := [part for part in parts if part not in PARTS]:
        raise CommandError("payload.invalid", f"Unknown part {unknown[0][:40]!r}.", field="parts")
    step = call.payload.step

    def turn(playback: Playback, unwanted: Unwanted) -> Encoded | None:
        try:
            index = playback.locate(step)
            if index is None and playback.advance(SLICE_SECONDS):
                return None
            index = playback.locate(step)
        except ValueError as error:
            raise CommandError("payload.invalid", str(error), field="step") from error
        if not index:
            raise OutOfRangeError(f"There is no cycle {step[:24]}; there are {len(playback):,}.")
        answer = steps.parts(playback, index, parts, unwanted)
        came = None if known is None else playback.came(known)
        return Encoded(encode(answer if came is None else {**answer, "pods": came}))

    return await call.in_turns(turn)


class PreemptionCandidates(OfSource):
    cycle: Index
    first: Index = field(name="from")
    count: Index


@command(
    "preemption.candidates",
    PreemptionCandidates,
    answers=CandidatesWire,
    latest=1,
    framed="step",
    unveiled=True,
)
async def candidate_nodes(call: Call[PreemptionCandidates]) -> Answer:
    """Return a page of the nodes where preemption would have helped."""
    index, first, count = call.payload.cycle, call.payload.first, call.payload.count

    def turn(playback: Playback, unwanted: Unwanted) -> Encoded | None:
        if not _reached(playback, index):
            return None
        cycle = playback.cycle(index, unwanted)
        return Encoded(encode(candidates(cycle, playback.place(cycle).node_at, first, count)))

    return await call.in_turns(turn)


class PreemptionRun(OfSource):
    cycle: Index
    node: Index


@command("preemption.run", PreemptionRun, answers=DryRunWire, latest=4, framed="step", unveiled=True)
async def preemption_run(call: Call[PreemptionRun]) -> Answer:
    """Return the dry run on one candidate node."""
    index, node = call.payload.cycle, call.payload.node

    def turn(playback: Playback, unwanted: Unwanted) -> Encoded | None:
        if not _reached(playback, index):
            return None
        cycle = playback.cycle(index, unwanted)
        run = dry_run(cycle, playback.place(cycle).node_at, node)
        if run is None:
            raise CommandError(
                "payload.invalid", "That node was not a candidate in this cycle.", field="node"
            )
        return Encoded(encode(run))

    return await call.in_turns(turn)


class EventsList(OfSource):
    to: Index
    count: Index


@command(
    "events.list",
    EventsList,
    answers=EventListWire,
    latest=1,
    kept=_events_asked,
    framed="step",
    unveiled=True,
)
async def events(call: Call[EventsList]) -> Answer:
    """Return the newest events up to a cycle."""
    to, count = call.payload.to, min(call.payload.count, limit("EVENTS"))

    def turn(playback: Playback, unwanted: Unwanted) -> Encoded | None:
        if not _reached(playback, to):
            return None
        later = events_of(playback.rest(unwanted)[1].happenings) if _at_end(playback, to) else ()
        last = min(to, len(playback))
        return Encoded(encode(history(playback.cycle, last, count, unwanted, later=later)))

    return await call.in_turns(turn)
