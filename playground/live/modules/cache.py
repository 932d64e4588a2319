"""``cache.…``: the equivalence cache in its state after a cycle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import field

from playground.calls.requests import Index, OfSource, Text, Texts
from playground.live.commands import Answer, Call, Unwanted, command
from playground.live.errors import CommandError
from playground.panels.cache_map import (
    ROWS,
    SORTS,
    Page,
    classes,
    compared,
    entry_map,
    level_map,
    members,
    number_of,
)
from playground.playback.playback import SLICE_SECONDS, Playback
from playground.protocol.equivalence import CacheClassesWire, CacheMapWire, CacheMembersWire, EquivalentWire
from playground.wire import Encoded, encode
from scheduler_core.kubernetes.model import Pod
from scheduler_core.run import Stepper
from scheduler_core.schedulers.v1_11.equivalence.pages import LEVELS

# `from` is a Python keyword, and so cannot be written as an argument.

CacheView = Callable[[Stepper, Playback], dict[str, Any]]


async def _after(call: Call[Any], show: CacheView) -> Answer:
    """Return the result of ``show`` for the simulation after the call's cycle."""
    index = call.payload.cycle

    def turn(playback: Playback, unwanted: Unwanted) -> Encoded | None:
        if len(playback) < index and playback.advance(SLICE_SECONDS):
            return None
        with playback.after(index, unwanted) as simulation:
            return Encoded(encode(show(simulation, playback)))

    return await call.in_turns(turn)


def _page(payload: CacheClasses | CacheMembers | CacheMap, find: str | None, sort: str | None) -> Page:
    sort = sort or ""
    if sort.removeprefix("-") not in ("", *SORTS):
        raise CommandError("payload.invalid", f"sort must be one of {', '.join(SORTS)}.", field="sort")
    return Page(payload.first, min(payload.count, ROWS), find or "", sort)


class CacheClasses(OfSource):
    cycle: Index
    first: Index = field(name="from")
    count: Index
    find: Text | None = None
    sort: Text | None = None


@command("cache.classes", CacheClasses, answers=CacheClassesWire, latest=1, framed="step", unveiled=True)
async def cache_classes(call: Call[CacheClasses]) -> Answer:
    """Return the known classes, those with most members first unless another order is requested."""
    wanted = _page(call.payload, call.payload.find, call.payload.sort)
    return await _after(call, lambda simulation, _: classes(simulation, wanted))


class CacheMembers(OfSource):
    cycle: Index
    hash: Text
    first: Index = field(name="from")
    count: Index


@command("cache.members", CacheMembers, answers=CacheMembersWire, latest=1, framed="step", unveiled=True)
async def cache_members(call: Call[CacheMembers]) -> Answer:
    """Return a class's pods and their nodes."""
    wanted = _page(call.payload, None, None)
    number = number_of(call.payload.hash)
    if number is None:
        raise CommandError("payload.invalid", "hash must be 16 hexadecimal digits.", field="hash")
    return await _after(
        call, lambda simulation, playback: members(simulation, number, wanted, playback.tables.node_index)
    )


class CacheEquivalent(OfSource):
    cycle: Index
    pods: Texts


@command("cache.equivalent", CacheEquivalent, answers=EquivalentWire, latest=1, framed="step", unveiled=True)
async def cache_equivalent(call: Call[CacheEquivalent]) -> Answer:
    """Return whether two pods are equivalent, and which field differs."""
    keys = call.payload.pods
    if len(keys) != 2:
        raise CommandError("payload.invalid", "pods must be the names of two pods.", field="pods")

    def show(simulation: Stepper, playback: Playback) -> dict[str, Any]:
        first, second = (_pod(simulation, key) for key in keys)
        return compared(first, second, playback.settings_after(call.payload.cycle))

    return await _after(call, show)


def _pod(simulation: Stepper, key: str) -> Pod:
    known = simulation.cluster.pods.get(key)
    if known is None:
        raise CommandError("pod.not-found", f"There is no pod {key[:300]} after this cycle.")
    return known.pod


class CacheMap(OfSource):
    cycle: Index
    by: Text
    first: Index = field(name="from")
    count: Index
    key: Text | None = None
    find: Text | None = None
    sort: Text | None = None


@command("cache.map", CacheMap, answers=CacheMapWire, latest=1, framed="step", unveiled=True)
async def cache_map(call: Call[CacheMap]) -> Answer:
    """Return the keys of one of the map's levels, or the entries under one key."""
    wanted, key = _page(call.payload, call.payload.find, call.payload.sort), call.payload.key
    level = next((level for level in LEVELS if level == call.payload.by), None)
    if level is None:
        raise CommandError("payload.invalid", f"by must be one of {', '.join(LEVELS)}.", field="by")
    if key is None:
        return await _after(call, lambda simulation, _: level_map(simulation, level, wanted))
    return await _after(
        call,
        lambda simulation, playback: entry_map(simulation, level, key, wanted, playback.tables.node_index),
    )
