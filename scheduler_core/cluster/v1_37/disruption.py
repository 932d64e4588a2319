"""PodDisruptionBudgets: how many of their pods may be disrupted (``pkg/controller/disruption``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.cluster.v1_37.controller import Controller
from scheduler_core.cluster.v1_37.eviction import budgets_of
from scheduler_core.cluster.v1_37.loop import Work
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    condition_of,
    controller_of,
    generation,
    is_deleting,
    is_ready,
    is_same_status,
    key_in,
    key_of,
    name_of,
    namespace_of,
    resource_of,
    scaled,
    second,
    spec_of,
    status_of,
    uid_of,
    with_status,
)
from scheduler_core.cluster.v1_37.watches import StoredWrite

DELETION_TIMEOUT = 120
_SCALES = ("ReplicaSet", "StatefulSet", "ReplicationController")


class UnknownScaleError(Exception):
    """The scale of a pod's controller is unknown; the text is the condition's message."""


class Disruption(Controller):
    """The controller of PodDisruptionBudgets."""

    name = "disruption"
    watched = ("PodDisruptionBudget", "Pod")

    def observe(self, write: StoredWrite) -> None:
        """Queue a budget, and that of a pod that has changed: the first of those that select it now."""
        if write.kind == "PodDisruptionBudget":
            self.queue.add(write.key)
        elif write.kind == "Pod":
            pod = write.new or write.old
            for budget in budgets_of(self.server, pod)[:1] if pod is not None else ():
                self.queue.add(key_of(budget))

    def sync(self, key: str) -> Work:
        """Write a budget's status (trySync)."""
        budget = self.server.get("PodDisruptionBudget", key)
        if budget is None:
            return
        pods = self.server.selected(spec_of(budget).get("selector"), namespace_of(budget))
        try:
            expected, desired = self._expected(budget, pods)
        except UnknownScaleError as error:
            yield from self._fail(budget, str(error))
            return
        disrupted, recheck = self._disrupted(budget, pods)
        healthy = sum(is_ready(pod) for pod in pods if not is_deleting(pod) and name_of(pod) not in disrupted)
        allowed = healthy - desired if expected > 0 and healthy > desired else 0
        status: dict[str, Any] = {
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": expected,
            "disruptionsAllowed": allowed,
            "disruptedPods": disrupted,
            "observedGeneration": generation(budget),
            "conditions": [
                _allowed(budget, "SufficientPods" if allowed else "InsufficientPods", bool(allowed))
            ],
        }
        if not is_same_status(status, status_of(budget)):
            yield self.client.update_status(with_status(budget, status))
        if recheck is not None:
            self.queue.add_after(key, max(0.0, recheck - self.now) + self.queue.base)

    def _fail(self, budget: Manifest, message: str) -> Work:
        """Allow no disruption while the scale of a pod's controller is unknown (failSafe)."""
        row = {**_allowed(budget, "SyncFailed", False), "message": message}
        failed = {**status_of(budget), "disruptionsAllowed": 0, "conditions": [row]}
        yield self.client.update_status(with_status(budget, failed))

    def _expected(self, budget: Manifest, pods: Sequence[Manifest]) -> tuple[int, int]:
        """Return the expected and the desired number of healthy pods.

        Raises:
            UnknownScaleError: A pod's controller has no scale.
        """
        spec = spec_of(budget)
        most, least = spec.get("maxUnavailable"), spec.get("minAvailable")
        if most is None and isinstance(least, int):
            return len(pods), least
        if most is None and least is None:
            return 0, 0
        expected = self._scale(pods)
        if most is not None:
            return expected, max(0, expected - scaled(most, expected, up=True))
        return expected, scaled(least, expected, up=True)

    def _scale(self, pods: Sequence[Manifest]) -> int:
        found: dict[str, int] = {}
        for pod in pods:
            owner = controller_of(pod)
            if owner is None or owner["uid"] in found:
                continue
            above = self._scaled_by(pod, owner)
            if above is None:
                raise UnknownScaleError(f'found no controllers for pod "{name_of(pod)}"')
            found[uid_of(above)] = int(spec_of(above).get("replicas") or 0)
        return sum(found.values())

    def _scaled_by(self, pod: Manifest, owner: dict[str, Any]) -> Manifest | None:
        if owner["kind"] not in _SCALES:
            raise UnknownScaleError(f"{_group_resource(owner)} does not implement the scale subresource")
        found = self.server.get(owner["kind"], key_in(owner["kind"], namespace_of(pod), owner["name"]))
        if found is None or uid_of(found) != owner["uid"]:
            return None
        return (self.owner(found, "Deployment") or found) if owner["kind"] == "ReplicaSet" else found

    def _disrupted(self, budget: Manifest, pods: Sequence[Manifest]) -> tuple[dict[str, str], float | None]:
        """Return the pods whose eviction was allowed and is not seen yet, and when the first is given up."""
        known = status_of(budget).get("disruptedPods") or {}
        kept = {
            name_of(pod): known[name_of(pod)]
            for pod in pods
            if not is_deleting(pod)
            and name_of(pod) in known
            and second(known[name_of(pod)]) + DELETION_TIMEOUT >= self.now
        }
        times = [second(at) + DELETION_TIMEOUT for at in kept.values()]
        return kept, min(times, default=None)


def _group_resource(owner: dict[str, Any]) -> str:
    """Return the resource and the group of an owner's kind, such as ``jobs.batch``."""
    group = owner["apiVersion"].rpartition("/")[0]
    return ".".join(filter(None, (resource_of(owner["kind"]), group)))


def _allowed(budget: Manifest, reason: str, allowed: bool) -> dict[str, Any]:
    """Return the condition DisruptionAllowed, as it is if it says so already."""
    row = {"type": "DisruptionAllowed", "status": "True" if allowed else "False", "reason": reason}
    known = condition_of(budget, row["type"])
    return row if known is None or {**known, **row} != known else known
