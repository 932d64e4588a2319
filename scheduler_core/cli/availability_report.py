"""The workloads that were short of ready pods, or lost some, while a run lasted."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_core.cli.input_files import in_columns
from scheduler_core.compare.availability import AvailabilityDifference, WorkloadDifference
from scheduler_core.record.availability import Availability, WorkloadAvailability

HEADER = ("WORKLOAD", "DESIRED", "READY", "PENDING", "FEWEST READY", "BELOW DESIRED", "EVICTED", "REFUSED")
COMPARED = ("WORKLOAD", "READY", "PENDING", "FEWEST READY", "BELOW DESIRED", "EVICTED", "REFUSED")
SHOWN = 20
NOTICED = 1.0
"""Seconds below desired from which on a workload is reported: those of ordinary scheduling are fewer."""


def availability_lines(found: Availability | None) -> Iterator[str]:
    """Yield a table of the disturbed workloads with its heading; nothing if there are none."""
    rows = [] if found is None else [one for one in found.workloads if is_disturbed(one)]
    if found is None or not rows:
        return
    yield f"\nWorkloads over time, the last change at {found.calm_at:,.3f}s:"
    yield from (f"  {line}" for line in in_columns([HEADER, *map(_row, rows[:SHOWN])]))
    if len(rows) > SHOWN or found.left_out:
        yield f"  and {max(0, len(rows) - SHOWN) + found.left_out:,} more workloads"


def difference_lines(found: AvailabilityDifference) -> Iterator[str]:
    """Yield what failed in B alone, then a table of the workloads that fared differently, ``A → B``."""
    if found.failed:
        yield "\nFailed in B:"
        yield from (f"  {text}" for text in found.failed)
    rows = [one for one in found.workloads if _differs(one)]
    if not rows:
        return
    yield f"\nWorkloads over time, A → B, the last change {found.calm:+,.3f}s later in B:"
    yield from (f"  {line}" for line in in_columns([COMPARED, *map(_pair, rows[:SHOWN])]))
    if len(rows) > SHOWN or found.left_out:
        yield f"  and {max(0, len(rows) - SHOWN) + found.left_out:,} more workloads"


def _differs(one: WorkloadDifference) -> bool:
    """Return whether a workload was short of ready pods, or lost some, in one run more than in the other."""
    sides = [side for side in (one.parent, one.branch) if side is not None]
    lost = {(side.evicted, side.preempted, side.refused) for side in sides}
    return len(lost) > 1 or abs(one.below) >= NOTICED or (len(sides) == 1 and is_disturbed(sides[0]))


def _pair(one: WorkloadDifference) -> tuple[str, ...]:
    sides = [None if side is None else _row(side) for side in (one.parent, one.branch)]
    name = next(row[0] for row in sides if row is not None)
    columns = ([row[at] if row is not None else "-" for row in sides] for at in range(2, len(HEADER)))
    return name, *(left if left == right else f"{left} → {right}" for left, right in columns)


def is_disturbed(one: WorkloadAvailability) -> bool:
    """Return whether a workload lost pods, or was short of ready ones for longer than scheduling takes."""
    lost = one.evicted or one.refused or one.preempted
    return bool(lost) or (bool(one.kind) and one.below >= NOTICED)


def _row(one: WorkloadAvailability) -> tuple[str, ...]:
    still = ", still" if one.is_below else ""
    return (
        one.name,
        str(one.last.desired),
        str(one.last.ready),
        str(one.last.pending),
        f"{one.fewest_ready} at {one.fewest_at:,.3f}s",
        f"{one.below:,.3f}s{still}" if one.below else "-",
        str(one.evicted + one.preempted),
        str(one.refused),
    )
