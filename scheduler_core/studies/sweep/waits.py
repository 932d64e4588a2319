"""How long pods and gangs waited until they were placed, in virtual seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.schedulers.columns import Cluster
from scheduler_core.schedulers.coscheduling.groups import group_key


class Waits:
    """When each pod was first seen and first placed, by its key."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        self._placed: dict[str, float] = {}

    def note(self, time: float, moves: Iterable[tuple[str, bool]]) -> None:
        """Count the moves of a moment: a pod, and whether it came to a node or waits."""
        for pod, placed in moves:
            if placed:
                self._placed.setdefault(pod, time)
            else:
                self._since.setdefault(pod, time)

    def figures(self, cluster: Cluster) -> Mapping[str, Any]:
        """Return the figures of waiting; ``cluster`` is that at the end.

        A gang waits from its first pod's arrival until all its pods that exist at the end are placed.
        """
        gangs: dict[str, list[str]] = {}
        for key, state in cluster.pods.items():
            if group := group_key(state.pod):
                gangs.setdefault(group, []).append(key)
        complete = [pods for pods in gangs.values() if all(cluster.pods[key].node_name for key in pods)]
        waited = [max(map(self._end, pods)) - min(map(self._begin, pods)) for pods in complete]
        seconds = sorted(time - self._since.get(pod, 0.0) for pod, time in self._placed.items())
        return {
            "meanWait": _mean(seconds),
            "p95Wait": round(seconds[int(0.95 * (len(seconds) - 1))], 3) if seconds else 0.0,
            "gangs": len(gangs),
            "gangsPlaced": len(complete),
            "meanGangWait": _mean(waited) if waited else None,
        }

    def _begin(self, pod: str) -> float:
        return self._since.get(pod, 0.0)

    def _end(self, pod: str) -> float:
        return self._placed.get(pod, 0.0)


def _mean(seconds: list[float]) -> float:
    return round(sum(seconds) / len(seconds), 3) if seconds else 0.0
