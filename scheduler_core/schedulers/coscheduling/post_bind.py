"""PostBind of the classic edition: the effect of a bound member on its PodGroup's status."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.kubernetes.model import PodGroup, PodGroupStatus


class PostBindResult(Struct, frozen=True):
    """``seen`` is the status now in the plugin's memory, ``stored`` the one in the API, which users read.

    The API object is patched only when the phase changes, so ``stored.scheduled`` lags behind.
    """

    seen: PodGroupStatus
    stored: PodGroupStatus
    patched: bool


def post_bind(group: PodGroup, stored: PodGroupStatus, now: str) -> PostBindResult:
    """Count one more bound member; ``group.status`` is what the plugin sees, ``now`` an RFC 3339 time."""
    scheduled = group.status.scheduled + 1
    complete = scheduled >= group.min_member
    start = group.status.schedule_start_time
    fresh = replace(
        group.status,
        scheduled=scheduled,
        phase="Scheduled" if complete else "Scheduling",
        schedule_start_time=start if complete else start or now,
    )
    if fresh.phase != group.status.phase:
        patched = replace(
            stored,
            scheduled=fresh.scheduled,
            phase=fresh.phase,
            schedule_start_time=fresh.schedule_start_time,
        )
        return PostBindResult(fresh, patched, patched=True)
    return PostBindResult(replace(group.status, scheduled=scheduled), stored, patched=False)
