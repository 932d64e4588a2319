"""``cache.…``: the equivalence cache in its state after a cycle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
from playground.protocol.caching import CacheClassesWire, CacheMapWire, CacheMembersWire, EquivalentWire
from playground.wire import Encoded, encode
from scheduler_core.kubernetes.model import Pod
from scheduler_core.run import Stepper
from scheduler_core.schedulers.v1_11.equivalence.browsing import LEVELS

# `from` is a Python keyword, and so cannot be written as an argument.
ROWS_ASKED = {"from": "index", "count": "index"}

CacheView = Callable[[Stepper, Playback], dict[str, Any]]


async def _after(call: Call, show: CacheView) -> Answer:
    """Return the result of ``show`` for the simulation after the call's cycle."""
    index = call.payload["cycle"]

    def turn(playback: Playback, unwanted: Unwanted) -> Encoded | None:
        if len(playback) < index and playback.advance(SLICE_SECONDS):
            return None
        with playback.after(index, unwanted) as simulation:
            return Encoded(encode(show(simulation, playback)))

    return await call.in_turns(turn)


def _page(call: Call) -> Page:
    payload = call.payload
    sort = payload.get("sort") or ""
    if sort.removeprefix("-") not in ("", *SORTS):
        raise CommandError("payload.invalid", f"sort must be one of {', '.join(SORTS)}.", field="sort")
    return Page(payload["from"], min(payload["count"], ROWS), payload.get("find") or "", sort)


@command(
    "cache.classes",
    answers=CacheClassesWire,
    source="source",
    latest=1,
    cycle="index",
    find="text?",
    sort="text?",
    **ROWS_ASKED,  # type: ignore[arg-type]
)
async def cache_classes(call: Call) -> Answer:
    """Return the known classes, those with most members first unless another order is requested."""
    wanted = _page(call)
    return await _after(call, lambda simulation, _: classes(simulation, wanted))


@command(
    "cache.members",
    answers=CacheMembersWire,
    source="source",
    latest=1,
    cycle="index",
    hash="text",
    **ROWS_ASKED,  # type: ignore[arg-type]
)
async def cache_members(call: Call) -> Answer:
    """Return a class's pods and their nodes."""
    wanted = _page(call)
    number = number_of(call.payload["hash"])
    if number is None:
        raise CommandError("payload.invalid", "hash must be 16 hexadecimal digits.", field="hash")
    return await _after(
        call, lambda simulation, playback: members(simulation, number, wanted, playback.tables.node_index)
    )


@command("cache.equivalent", answers=EquivalentWire, source="source", latest=1, cycle="index", pods="texts")
async def cache_equivalent(call: Call) -> Answer:
    """Return whether two pods are equivalent, and which field differs."""
    keys = call.payload["pods"]
    if len(keys) != 2:
        raise CommandError("payload.invalid", "pods must be the names of two pods.", field="pods")

    def show(simulation: Stepper, playback: Playback) -> dict[str, Any]:
        first, second = (_pod(simulation, key) for key in keys)
        return compared(first, second, playback.settings_after(call.payload["cycle"]))

    return await _after(call, show)


def _pod(simulation: Stepper, key: str) -> Pod:
    known = simulation.cluster.pods.get(key)
    if known is None:
        raise CommandError("pod.not-found", f"There is no pod {key[:300]} after this cycle.")
    return known.pod


@command(
    "cache.map",
    answers=CacheMapWire,
    source="source",
    latest=1,
    cycle="index",
    by="text",
    key="text?",
    find="text?",
    sort="text?",
    **ROWS_ASKED,  # type: ignore[arg-type]
)
async def cache_map(call: Call) -> Answer:
    """Return the keys of one of the map's levels, or the entries under one key."""
    wanted, key = _page(call), call.payload.get("key")
    level = next((level for level in LEVELS if level == call.payload["by"]), None)
    if level is None:
        raise CommandError("payload.invalid", f"by must be one of {', '.join(LEVELS)}.", field="by")
    if key is None:
        return await _after(call, lambda simulation, _: level_map(simulation, level, wanted))
    return await _after(
        call,
        lambda simulation, playback: entry_map(simulation, level, key, wanted, playback.tables.node_index),
    )
