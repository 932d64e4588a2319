"""DefaultPreemption, the PostFilter plugin that evicts pods of lower priority.

It also runs for a pod that failed in PreFilter alone, unless its failure was UnschedulableAndUnresolvable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from scheduler_core.schedulers.v1_11.preemption.preempt import preempt
from scheduler_core.schedulers.v1_22.interface import Plugin
from scheduler_core.schedulers.v1_22.status import Status

if TYPE_CHECKING:
    from scheduler_core.schedulers.v1_22.queue import QueuedPod
    from scheduler_core.schedulers.v1_22.record import Attempt


class Preempted(Struct, frozen=True):
    """The nominated node, the victims, and the pods that lose their nomination to it."""

    node: str
    victims: tuple[str, ...]
    cleared: tuple[str, ...]


class DefaultPreemption(Plugin):
    """Nominates a node, which ends the chain of PostFilter plugins, or returns Unschedulable."""

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
            framework.profile_of(pod),
            record=framework.details,
        )
        attempt.preemption = found.record
        chosen = found.chosen
        if chosen is None:
            return Status("Unschedulable")
        refused = self._evict([victim.key for victim in chosen.victims], attempt)
        if refused:
            if found.record is not None:
                found.record.chosen, found.record.cleared, found.record.undone = None, (), refused
            return Status("Error", refused)
        attempt.cleared = tuple(found.cleared)
        for key in attempt.cleared:
            framework.clear_nomination(key)
        detail = Preempted(chosen.node, attempt.victims, attempt.cleared)
        return Status("Success", detail=detail, nominated=chosen.node)

    def _evict(self, keys: list[str], attempt: Attempt) -> str:
        """Evict pods, one after another (PrepareCandidate); return the error that stops it, "" if none.

        1.22 stops at a pod whose deletion the scheduler has not been notified of yet; today's scheduler
        skips such a pod.
        """
        evicted: list[str] = []
        refused = ""
        for key in keys:
            refused = self.framework.evict(key, self.name)
            if not refused:
                evicted.append(key)
            elif self.framework.release.missing_victim_fails:
                break
        attempt.victims = tuple(evicted)
        return refused if self.framework.release.missing_victim_fails else ""
