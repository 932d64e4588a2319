"""Pods with the times at which they come and go, as a Scenario."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

TimedPod = tuple[float, float | None, dict[str, Any]]
"""The seconds at which a pod is created and deleted, if it is, and its manifest."""


def scenario_of_pods(timed: Sequence[TimedPod], name: str) -> dict[str, Any]:
    """Return the Scenario of all creations and deletions: one step per time, deletions first."""
    moments: list[tuple[float, int, int]] = []
    for index, (created, deleted, _) in enumerate(timed):
        moments.append((created, 1, index))
        if deleted is not None and deleted > created:
            moments.append((deleted, 0, index))
    moments.sort()
    operations: list[dict[str, Any]] = []
    step, last = 0, -1.0
    for seconds, created, index in moments:
        if seconds != last:
            step, last = step + 1, seconds
        document = timed[index][2]
        operation: dict[str, Any] = {"id": str(len(operations) + 1), "step": step, "time": _plain(seconds)}
        if created:
            operation["createOperation"] = {"object": document}
        else:
            meta = {"name": document["metadata"]["name"], "namespace": document["metadata"]["namespace"]}
            operation["deleteOperation"] = {
                "typeMeta": {"apiVersion": "v1", "kind": "Pod"},
                "objectMeta": meta,
            }
        operations.append(operation)
    return {
        "apiVersion": "simulation.kube-scheduler-simulator.sigs.k8s.io/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": name},
        "spec": {"operations": operations},
    }


def _plain(seconds: float) -> float | int:
    return int(seconds) if seconds.is_integer() else seconds
