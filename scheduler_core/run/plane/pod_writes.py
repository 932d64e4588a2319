"""Pods as a kube-scheduler writes them at the API server of a control plane."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from scheduler_core.cluster.v1_37.clientset import Clientset
from scheduler_core.cluster.v1_37.loop import Loop, StatusError, Write
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    stamp,
    status_of,
    with_condition,
    with_spec,
    with_status,
)
from scheduler_core.cluster.v1_37.part_memo import remade

Patch = Callable[[Manifest], Manifest]
PREEMPTED = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
"""The condition of a victim, before it is deleted."""


class StatusPatch:
    """A patch of a pod's status, unless that changes nothing; ``done`` is called after it."""

    def __init__(
        self, client: Clientset, pod: Manifest, patch: Patch, done: Callable[[], None] | None = None
    ) -> None:
        self.client, self.pod, self.patch, self.done = client, pod, patch, done
        self._begun = False

    def send(self, result: Any) -> Write:
        """Return the write; raise StopIteration at the end."""
        del result
        if self._begun or self.patch(self.pod) == self.pod:
            self._end()
        self._begun = True
        return self.client.patch(self.pod, self.patch)

    def throw(self, error: StatusError) -> NoReturn:
        """End, whatever was refused."""
        del error
        self._end()

    def _end(self) -> NoReturn:
        if self.done is not None:
            self.done()
        raise StopIteration


def bound(pod: Manifest, node: str, now: float) -> Manifest:
    """Return a pod as its binding stores it: its node, its condition, and no nomination."""
    status = remade(status_of(pod), _bound_status, stamp(now))
    return {**with_spec(pod, nodeName=node), "status": status}


def _bound_status(status: dict[str, Any], at: str) -> dict[str, Any]:
    made = {key: value for key, value in status.items() if key != "nominatedNodeName"}
    row = {"type": "PodScheduled", "status": "True", "lastTransitionTime": at}
    return {**made, "conditions": with_condition(made.get("conditions") or [], row)}


def nominated(pod: Manifest, node: str) -> Manifest:
    """Return a pod with a nomination, with none if ``node`` is ""."""
    status = {key: value for key, value in status_of(pod).items() if key != "nominatedNodeName"}
    return with_status(pod, {**status, "nominatedNodeName": node} if node else status)


def failed(pod: Manifest, row: dict[str, Any], node: str | None, loop: Loop) -> Manifest:
    """Return a pod with the condition of a failed attempt, and nominated unless ``node`` is ``None``."""
    made = marked(pod, row, loop)
    return made if node is None else nominated(made, node)


def marked(pod: Manifest, row: Mapping[str, Any], loop: Loop) -> Manifest:
    """Return a pod with a condition, which has its time since its status has changed."""
    status = status_of(pod)
    conditions = status.get("conditions") or []
    known = next((one for one in conditions if one["type"] == row["type"]), None)
    same = known and known["status"] == row["status"]
    since = known.get("lastTransitionTime") if known and same else stamp(loop.now)
    made = {**row, "lastTransitionTime": since}
    return with_status(pod, {**status, "conditions": with_condition(conditions, made)})
