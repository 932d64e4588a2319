"""The workloads over time, and the step at which each of their moments is seen."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from playground.playback.playback import Playback
from playground.playback.stopping import never
from scheduler_core.cluster.availability_series import thinned
from scheduler_core.kubernetes.plain import plain
from scheduler_core.record.availability import Moment, WorkloadAvailability

STRETCHES = 16
"""Into how many stretches of time the series of a row is divided, which are drawn small."""


def availability(
    playback: Playback, key: tuple[str, str], unwanted: Callable[[], bool] = never
) -> dict[str, Any] | None:
    """Return the protocol's ``OverTime``, with the whole series of the workload ``key``.

    ``None`` as long as there is none, which for a run in which no time passes is forever.
    """
    found = playback.availability(unwanted)
    if found is None:
        return None
    times = [playback.trail.time(index) for index in range(1, len(playback) + 1)]
    end = len(playback) + playback.ended
    shown = next((one for one in found.workloads if (one.kind, one.key) == key), found.total)
    return {
        "known": len(playback),
        "until": found.until,
        "calmAt": found.calm_at,
        "total": _row(found.total),
        "workloads": [_row(one) for one in found.workloads],
        "leftOut": found.left_out,
        "shown": {"kind": shown.kind, "key": shown.key, **_series(shown.moments, times, end)},
    }


def _row(one: WorkloadAvailability) -> dict[str, Any]:
    row: dict[str, Any] = plain(replace(one, moments=thinned(one.moments, STRETCHES)))
    return row


def _series(moments: tuple[Moment, ...], times: list[float], end: int) -> dict[str, Any]:
    """Return the moments, and for each the first step that is not before it, at most the ``end``."""
    steps = [min(bisect_left(times, one.at) + 1, end) for one in moments]
    return {"moments": plain(moments), "steps": steps}
