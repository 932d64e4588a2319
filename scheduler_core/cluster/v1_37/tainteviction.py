"""Taint eviction: pods that do not tolerate their node's NoExecute taints, or not for longer.

Source: ``pkg/controller/tainteviction``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.cluster.v1_37.controller import Controller
from scheduler_core.cluster.v1_37.loop import StatusError, Work
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    key_of,
    node_of,
    spec_of,
    stamp,
    status_of,
    taints_of,
    tolerates,
    with_condition,
)
from scheduler_core.cluster.v1_37.part_memo import remade
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.watches import StoredWrite

FOREVER = -1.0


def with_disruption_target(pod: Manifest, reason: str, now: float) -> Manifest:
    """Return a pod with its condition DisruptionTarget."""
    status = remade(status_of(pod), _disrupted, reason, stamp(now))
    return pod if status is pod.get("status") else {**pod, "status": status}


def _disrupted(status: dict[str, Any], reason: str, at: str) -> dict[str, Any]:
    row = {"type": "DisruptionTarget", "status": "True", "reason": reason, "lastTransitionTime": at}
    known = status.get("conditions") or []
    if any(one["type"] == "DisruptionTarget" and one["status"] == "True" for one in known):
        return status
    return {**status, "conditions": with_condition(known, row)}


class TaintEviction(Controller):
    """The controller that evicts by taint; ``_planned`` has by pod when and for when it was planned."""

    name = "tainteviction"
    watched = ("Node", "Pod")

    def __init__(self, server: ApiServer) -> None:
        super().__init__(server)
        self._tainted: dict[str, list[dict[str, Any]]] = {}
        self._planned: dict[str, tuple[float, float]] = {}

    def observe(self, write: StoredWrite) -> None:
        """Look at the pods of a node whose taints change, and at a pod that is bound or deleted."""
        old, new = write.old, write.new
        if write.kind == "Node" and new is None:
            self._tainted.pop(write.key, None)  # what was planned for its pods stays planned
        elif write.kind == "Node":
            if old is None or _no_execute(old) != _no_execute(new):
                self._see_node(write.key, _no_execute(new))
        elif write.kind == "Pod":
            if new is None:
                self._planned.pop(write.key, None)
            elif old is None or (old.get("spec") is not new.get("spec") and _placing(old) != _placing(new)):
                self._see_pod(new, self._tainted.get(node_of(new)))

    def sync(self, key: str) -> Work:
        """Mark and delete a pod whose time is over."""
        pod = self.server.get("Pod", key)
        if pod is None:
            return
        try:
            yield self.client.patch(
                pod, lambda one: with_disruption_target(one, "DeletionByTaintManager", self.now)
            )
            yield self.client.delete(pod)
        except StatusError:
            return

    def _see_node(self, name: str, taints: list[dict[str, Any]]) -> None:
        if taints:
            self._tainted[name] = taints
        else:
            self._tainted.pop(name, None)
        for pod in self.server.pods_of_node(name):
            self._see_pod(pod, taints)

    def _see_pod(self, pod: Manifest, taints: Sequence[dict[str, Any]] | None) -> None:
        """Plan a pod's eviction, or drop the plan (processPodOnNode)."""
        key = key_of(pod)
        if taints is None or not node_of(pod):
            return
        seconds = toleration_seconds(pod, taints)
        if not taints or seconds == FOREVER:
            self._planned.pop(key, None)
        elif seconds is None:
            self._plan(key, self.loop.now, self.loop.now)
        elif key not in self._planned or self._planned[key][0] >= self.loop.now:
            self._plan(key, self.loop.now, self.loop.now + seconds)

    def _plan(self, key: str, begun: float, at: float) -> None:
        plan = self._planned[key] = begun, at

        if at <= self.loop.now:
            self._due(key, plan)
        else:
            self.loop.at(at, self._due, key, plan)

    def _due(self, key: str, plan: tuple[float, float]) -> None:
        if self._planned.get(key) is plan:
            del self._planned[key]
            self.loop.spawn(self.sync(key))


def toleration_seconds(pod: Manifest, taints: Sequence[dict[str, Any]]) -> float | None:
    """Return for how long a pod tolerates all taints; None if not all, :data:`FOREVER` without an end."""
    used = []
    for taint in taints:
        found = [one for one in spec_of(pod).get("tolerations") or () if tolerates(one, taint)]
        if not found:
            return None
        used += found[:1]
    ends = [max(0, int(one["tolerationSeconds"])) for one in used if one.get("tolerationSeconds") is not None]
    return float(min(ends)) if ends else FOREVER


def _no_execute(node: Manifest | None) -> list[dict[str, Any]]:
    return [] if node is None else [one for one in taints_of(node) if one["effect"] == "NoExecute"]


def _placing(pod: Manifest) -> tuple[Any, ...]:
    return node_of(pod), spec_of(pod).get("tolerations")
