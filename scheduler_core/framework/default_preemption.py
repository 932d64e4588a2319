"""DefaultPreemption, the PostFilter plugin that makes room by deleting pods of lower priority.

It also runs for a pod that failed in PreFilter alone, unless its failure was UnschedulableAndUnresolvable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler_core.framework.plugins import Plugin, Status
from scheduler_core.preemption import preempt

if TYPE_CHECKING:
    from scheduler_core.framework.queue import QueuedPod
    from scheduler_core.framework.record import Attempt


@dataclass(frozen=True, slots=True)
class Preempted:
    """The node, the pods that go, and those that lose their nomination to it."""

    node: str
    victims: tuple[str, ...]
    cleared: tuple[str, ...]


class DefaultPreemption(Plugin):
    """Nominates a node, which ends the chain of PostFilter plugins, or says Unschedulable."""

    name = "DefaultPreemption"

    def post_filter(self, pod: QueuedPod, attempt: Attempt) -> Status:
        """Choose victims (PostFilter). They are deleted, or rejected if they wait at Permit."""
        framework = self.framework
        failed = attempt.failed
        if failed is None or not failed.size or attempt.unresolvable:
            return Status("Unschedulable")
        found = preempt(
            pod.state,
            failed,
            framework.cluster,
            framework.queue.nominator,
            framework.lane_of(pod).scheduling.profile,
            victims_only=True,
            record=framework.details,
        )
        attempt.preemption = found.record
        chosen = found.chosen
        if chosen is None:
            return Status("Unschedulable")
        detail = Preempted(chosen.node, tuple(victim.key for victim in chosen.victims), tuple(found.cleared))
        attempt.victims, attempt.cleared = detail.victims, detail.cleared
        for key in detail.cleared:
            framework.clear_nomination(key)
        for key in detail.victims:
            framework.evict(key, self.name)
        return Status("Success", detail=detail, nominated=chosen.node)
