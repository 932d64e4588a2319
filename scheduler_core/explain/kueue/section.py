"""What Kueue says of a pod that waits for it, as parts of the pod's explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler_core.cluster.kueue.workload import ADMITTED
from scheduler_core.explain.kueue.answer import answer
from scheduler_core.explain.section import Section

if TYPE_CHECKING:
    from scheduler_core.cluster.kueue.actor import Kueue


def kueue_sections(kueue: Kueue, pod: str) -> tuple[Section, ...]:
    """Return why Kueue holds a pod; nothing if it does not."""
    key = kueue.workload_of_pod(pod)
    if not key or kueue.control.workloads[key].has(ADMITTED):
        return ()
    found = answer(kueue.control, key)
    return (Section("Held by Kueue", (found.summary,)), *found.sections)
