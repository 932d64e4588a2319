"""What kubelets ask before they run a pod: whether it fits beside those that they have admitted.

Source: ``pkg/kubelet/lifecycle/predicate.go`` (:mod:`scheduler_core.cluster.controllers.kubelet`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from scheduler_core.cluster.controllers.annotations import RELEASE, seconds
from scheduler_core.cluster.controllers.daemon_admission import total_requests
from scheduler_core.cluster.controllers.kubelet import AdmissionRefusal, refusal
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    is_finished,
    second,
    status_of,
    uid_of,
)
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.kubernetes.model import Node, Pod


class KubeletAdmission:
    """Decides about each pod when its kubelet first sees it; ``read`` returns the typed form of an object.

    Pods that were bound before and have not ended are those that the kubelet has admitted, but for those
    that it has refused.
    """

    def __init__(self, server: ApiServer, read: Callable[[Manifest], Any]) -> None:
        self._server = server
        self._read = read
        self._refused: set[str] = set()
        """The uids of the pods that were refused."""

    def refusal(self, pod: Manifest, node: str) -> AdmissionRefusal | None:
        """Return why a kubelet refuses a pod that has just been bound, ``None`` if it does not."""
        typed, host = self._read(pod), self._server.get("Node", node)
        place = None if host is None else self._read(host)
        if host is None or not isinstance(typed, Pod) or not isinstance(place, Node):
            return None
        others = [one for one in self._counted(host, node) if uid_of(one) != uid_of(pod)]
        used = Counter[str]()
        for other in others:
            used.update(total_requests(self._read(other)) | {"pods": 1})
        running = [one for one in others if not is_finished(one)]
        found = refusal(typed, place, used, lambda: map(self._read, running))
        if found is not None:
            self._refused.add(uid_of(pod))
        return found

    def _counted(self, host: Manifest, node: str) -> Iterator[Manifest]:
        since = self._server.loop.wall_time - (seconds(annotations_of(host).get(RELEASE, "0")) or 0.0)
        for pod in self._server.pods_of_node(node):
            if uid_of(pod) not in self._refused and (not is_finished(pod) or _ended_at(pod) > since):
                yield pod


def _ended_at(pod: Manifest) -> float:
    """Return when a pod's last container ended, in seconds since 1970."""
    states = [one.get("state") or {} for one in status_of(pod).get("containerStatuses") or ()]
    ended = (second(one["terminated"].get("finishedAt")) for one in states if "terminated" in one)
    return max(ended, default=0.0)
