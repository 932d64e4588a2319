"""Cycles at the moments inside them, put together from the wire as the workbench does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from playground.panels import steps
from playground.playback.playback import Playback

PARTS = [
    "predicates",
    "cache",
    "priorities",
    "preemption",
    "queue",
    "podgroups",
    "session",
    "hints",
    "views",
    "moments",
    "cuts",
]
Shown = tuple[dict[str, Any], dict[str, Any]]  # light, parts


def whole(playback: Playback, index: int) -> Shown:
    """Return a whole cycle as it leaves the server."""
    light = json.loads(steps.window(playback, index, 1))["cycles"][0]
    return light, json.loads(json.dumps(steps.parts(playback, index, PARTS)))


def moments_inside(playback: Playback, index: int) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield each phase, the latest first and "" last, with the records of a cycle as they are at its end."""
    light, parts = whole(playback, index)
    for cut in parts["cuts"]:
        light = {**light, **cut["light"]}
        parts = {**parts, **cut["instead"]}
        for name, differing in cut["parts"].items():
            part, _, inner = name.partition(".")
            changed = {inner: {**parts[part][inner], **differing}} if inner else differing
            parts = {**parts, part: {**parts[part], **changed}}
        yield cut["phase"], light, parts
