"""What a run's summary says of Kueue: each Workload with its queue, and why it is not admitted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from scheduler_core.cluster.kueue.actor import Kueue
from scheduler_core.cluster.kueue.workload import ADMITTED, EVICTED, FINISHED, QUOTA_RESERVED, Workload

SHOWN = 200
"""How many Workloads are listed."""
NOTES_SHOWN = 20
"""How many notes are listed of what is left out."""


def kueue_lines(kueue: Kueue) -> Iterator[str]:
    """Yield the number of cycles, the Workloads with their state, and those that are tried forever."""
    workloads = kueue.control.workloads
    yield f"\nKueue: {kueue.count:,} cycles, {len(workloads):,} Workloads"
    for workload in islice(workloads.values(), SHOWN):
        yield f"  {workload.key}: {_state(kueue, workload)}"
    if len(workloads) > SHOWN:
        yield f"  and {len(workloads) - SHOWN:,} more"
    for text in islice(kueue.left_out, NOTES_SHOWN):
        yield f"  {text}"
    if len(kueue.left_out) > NOTES_SHOWN:
        yield f"  and {len(kueue.left_out) - NOTES_SHOWN:,} more notes"
    for text in kueue.crashes:
        yield f"  {text}; here it finds nothing to preempt"
    for key in kueue.restless:
        yield f"  {key} is tried or preempted without rest (kueue#3710, #3779); here it waits for a change"


def _state(kueue: Kueue, workload: Workload) -> str:
    admission = workload.admission
    where = admission.cluster_queue if admission else kueue.control.cache.queue_of(workload)
    queue = f" in {where}" if where else ""
    if workload.has(FINISHED):
        return f"finished{queue}"
    if workload.has(EVICTED) and workload.has(QUOTA_RESERVED):
        return f"stopping{queue}: {workload.conditions[EVICTED].message}"
    if workload.has(ADMITTED):
        return f"admitted{queue}{_flavors(workload)}"
    if workload.has(QUOTA_RESERVED):
        waits = ", ".join(name for name, one in workload.checks.items() if one.state != "Ready")
        return f"quota reserved{queue}{_flavors(workload)}, waiting for {waits}"
    why = workload.conditions.get(QUOTA_RESERVED)
    return f"pending{queue}{f': {why.message}' if why else ''}"


def _flavors(workload: Workload) -> str:
    assert workload.admission is not None
    parts = [
        f"{one.count} × {one.name} on {', '.join(sorted(set(one.flavors.values()))) or 'no flavor'}"
        for one in workload.admission.pod_sets
    ]
    return f" ({'; '.join(parts)})"
