"""Pod garbage collection: pods of nodes that are gone or out of service, and old finished ones.

Source: ``pkg/controller/podgc``.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.cluster.v1_37.clientset import Clientset
from scheduler_core.cluster.v1_37.loop import Loop, Together, Work
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    is_deleting,
    is_finished,
    node_of,
    ready_status,
    status_of,
    taints_of,
    with_status,
)
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.tainteviction import with_disruption_target
from scheduler_core.cluster.v1_37.watches import StoredWrite

PERIOD, QUARANTINE = 20.0, 40.0
TERMINATED = 12_500
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
_DRIFT = 1e-3


class PodGC:
    """A pass over all pods every 20 s."""

    def __init__(self, server: ApiServer) -> None:
        self.server = server
        self.loop: Loop = server.loop
        self.client = Clientset(server, "podgc")
        self._quarantine: dict[str, float] = {}
        """Until when a node that pods name, and that was missed, may come back."""
        self._waits = False
        """Whether pods are left whose node may come back."""
        self._stale = False
        """Whether a pod or a node has changed in a way that a pass may have to do with."""
        self._finished: set[str] = set()
        self._unplaced: set[str] = set()
        """Keys of pods that are being deleted, and are on no node."""
        self._out: set[str] = set()
        """Nodes that are out of service."""
        self.loop.pass_every(PERIOD, self.loop.start + PERIOD, self._due)
        self.loop.passes_matter(self._is_busy)
        server.watch(self.observe, ("Node", "Pod"))

    def observe(self, write: StoredWrite) -> None:
        """Note what the next pass has to look at."""
        new = write.new
        if write.kind == "Node":
            out = new is not None and _is_out_of_service(new)
            _note(self._out, write.key, out)
            self._stale = self._stale or new is None or out
        elif write.kind == "Pod":
            _note(self._finished, write.key, new is not None and is_finished(new))
            _note(self._unplaced, write.key, new is not None and is_deleting(new) and not node_of(new))
            self._stale = self._stale or (new is not None and self._concerns(new, node_of(new)))

    def _concerns(self, pod: Manifest, name: str) -> bool:
        """Return whether a pass may have to do with a pod of a node."""
        node = self.server.get("Node", name) if name else None
        if node is None:
            return bool(name) or is_deleting(pod)
        kept = is_deleting(pod) and _is_out_of_service(node)
        return kept or (is_finished(pod) and len(self.server.objects["Pod"]) > TERMINATED)

    def _is_busy(self) -> bool:
        return self._stale or self._waits

    def first_pass(self) -> None:
        """Look at the pods of a cluster that runs."""
        self._stale = False
        self.loop.spawn(self._pass())

    def _due(self) -> None:
        self._stale = False
        self.loop.spawn(self._pass())
        passes = round((self.loop.now - self.loop.start) / PERIOD) + 1
        self.loop.pass_every(PERIOD, self.loop.start + passes * PERIOD, self._due)

    @property
    def _finds_nothing(self) -> bool:
        """Whether a pass over all pods would do nothing, as almost always."""
        if len(self._finished) > TERMINATED or self._unplaced or self._out or self._quarantine:
            return False
        nodes, named = self.server.objects.get("Node", {}).keys(), self.server.pods_on
        return named.keys() <= nodes or not any(named[node] for node in named.keys() - nodes)

    def _pass(self) -> Work:
        if self._finds_nothing:
            return
        pods = list(self.server.of_kind("Pod"))
        finished = [pod for pod in pods if is_finished(pod)]
        yield from self._remove(finished[: max(0, len(finished) - TERMINATED)], "")
        yield from self._remove([pod for pod in pods if is_deleting(pod) and self._out_of_service(pod)], "")
        lost = self._lost(pods)
        for pod in pods:
            if node_of(pod) in lost:
                yield from self._remove([pod], "DeletionByPodGC")
        yield from self._remove([pod for pod in pods if is_deleting(pod) and not node_of(pod)], "")

    def _out_of_service(self, pod: Manifest) -> bool:
        node = self.server.get("Node", node_of(pod))
        return node is not None and ready_status(node) != "True" and _is_out_of_service(node)

    def _lost(self, pods: Sequence[Manifest]) -> set[str]:
        """Return the nodes that are still missing after their quarantine (discoverDeletedNodes)."""
        until = self.loop.now + _DRIFT
        over = {node for node, at in self._quarantine.items() if at <= until}
        for node in over:
            del self._quarantine[node]
        named = {node_of(pod) for pod in pods if node_of(pod)}
        missing = {node for node in named if self.server.get("Node", node) is None}
        for node in missing:
            self._quarantine.setdefault(node, self.loop.now + QUARANTINE)
        self._waits = bool(missing - over)
        return {node for node in over if self.server.get("Node", node) is None}

    def _remove(self, pods: Sequence[Manifest], reason: str) -> Work:
        """Let pods fail, and delete them at once (markFailedAndDeletePod)."""
        yield Together([self._remove_one(pod, reason) for pod in pods])

    def _remove_one(self, pod: Manifest, reason: str) -> Work:
        if not is_finished(pod):
            yield self.client.patch(pod, lambda one: self._failed(one, reason))
        yield self.client.delete(pod, grace=0)

    def _failed(self, pod: Manifest, reason: str) -> Manifest:
        made = with_status(pod, {**status_of(pod), "phase": "Failed"})
        return with_disruption_target(made, reason, self.loop.wall_time) if reason else made


def _note(keys: set[str], key: str, is_one: bool) -> None:
    if is_one:
        keys.add(key)
    else:
        keys.discard(key)


def _is_out_of_service(node: Manifest) -> bool:
    return any(one["key"] == OUT_OF_SERVICE for one in taints_of(node))
