"""What a link pins: the settings and the engine that decided, and the decisions, to compare them later.

An engine that is newer may decide differently. A link then shows both outcomes of the first cycle in which it
does, rather than silently another history than its creator saw.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from django.conf import settings

from playground.limits import limit
from playground.playback.playback import SLICE_SECONDS, Playback
from playground.storage import bundles
from scheduler_core.record.cycle import Decision

Outcome = list[Any]  # pod, result, node, nominated node, victims, [[pod, node]…] placed with it
FIELDS = ("pod", "result", "node", "nominated", "victims", "further")


@dataclass(frozen=True, slots=True)
class Pinned:
    """What decided, with a digest of the decisions, and the decisions as JSON."""

    what: dict[str, Any]
    decisions: bytes


def outcome_of(decision: Decision) -> Outcome:
    """Return a decision's effects, regardless of whether it scored nodes."""
    return [
        decision.pod,
        decision.result,
        decision.node,
        decision.nominated,
        list(decision.victims),
        [list(one) for one in decision.further],
    ]


def reached(playback: Playback, cycles: int) -> bool:
    """Compute a slice forward if needed; return whether so many cycles exist, or all that there are."""
    return len(playback) >= cycles or not playback.advance(SLICE_SECONDS)


def pinned(playback: Playback) -> Pinned:
    """Return what a playback decided so far, at most ``LINK_CYCLES`` cycles of it."""
    outcomes = _outcomes(playback, limit("LINK_CYCLES"))
    text = json.dumps(outcomes, separators=(",", ":"), ensure_ascii=False).encode()
    what = {
        "engine": settings.VERSION,
        "scheduler": scheduler_of(playback),
        "policy": playback.profile.summary(),
        "cycles": len(outcomes),
        "ended": playback.complete and len(playback) == len(outcomes),
        "digest": hashlib.sha256(text).hexdigest(),
    }
    return Pinned(what, bundles.pack(text))


def scheduler_of(playback: Playback) -> str:
    """Return what schedules: a Policy of v1.11, or the profiles of a KubeSchedulerConfiguration."""
    framework = playback.scenario.configuration.framework
    return "Policy" if framework is None else "KubeSchedulerConfiguration"


def compared(what: dict[str, Any], decisions: bytes, playback: Playback) -> dict[str, Any]:
    """Return how the current decisions differ from the pinned ones, as the protocol has it."""
    then = json.loads(bundles.unpack(decisions))
    compared = len(then) + (1 if what["ended"] else 0)  # one that goes on where the other ended differs, too
    now = _outcomes(playback, compared)
    differing = [index for index, (old, new) in enumerate(zip_longest(then, now), 1) if old != new]
    current = pinned(playback).what
    changed = sorted(
        name
        for name in {*what["policy"], *current["policy"]}
        if what["policy"].get(name) != current["policy"].get(name)
    )
    changed += [name for name in ("engine", "scheduler") if what[name] != current[name]]
    return {
        "same": not differing,
        "compared": max(len(then), len(now)),
        "differing": len(differing),
        "first": _first(differing[0], then, now) if differing else None,
        "changed": changed,
        "pinned": what,
        "current": {name: current[name] for name in ("engine", "scheduler", "policy")},
    }


def _first(index: int, then: list[Outcome], now: list[Outcome]) -> dict[str, Any]:
    sides = [dict(zip(FIELDS, rows[index - 1])) if index <= len(rows) else None for rows in (then, now)]
    return {"index": index, "then": sides[0], "now": sides[1]}


def _outcomes(playback: Playback, cycles: int) -> list[Outcome]:
    count = min(len(playback), cycles)
    return [outcome_of(decision) for decision in playback.trail.decisions[:count]]
