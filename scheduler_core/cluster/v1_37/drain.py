"""``kubectl drain --ignore-daemonsets``: cordon, then evict all pods, one that is refused again every 5 s."""

from __future__ import annotations

from typing import Any

from scheduler_core.cluster.v1_37.clientset import Clientset
from scheduler_core.cluster.v1_37.eviction import evict
from scheduler_core.cluster.v1_37.kubelet import MIRROR
from scheduler_core.cluster.v1_37.loop import StatusError, Work
from scheduler_core.cluster.v1_37.objects import (
    Manifest,
    annotations_of,
    controller_of,
    is_finished,
    key_of,
    uid_of,
    with_spec,
)
from scheduler_core.cluster.v1_37.server import ApiServer

RETRY_SECONDS = 5.0
Facts = dict[str, Any]


class Drain:
    """The drain of one node. ``facts`` are those of the record."""

    def __init__(self, server: ApiServer, node: str, *, force: bool, refused: Any) -> None:
        self.server = server
        self.loop = server.loop
        self.client = Clientset(server, "drain")
        self.node = node
        self.force = force
        self.refused = refused
        """Called with a pod and its first refusal, or with the error by which it is not evicted at all."""
        self.facts: Facts = {"node": node, "from": round(self.loop.now), "until": None, "evicted": 0}
        self.refusals: dict[str, str] = {}
        """By pod that is still there: the message of the last refusal."""
        self._left: dict[str, str] = {}
        self._accepted: set[str] = set()
        self._retries = 0
        self._stale = False
        """Whether a pod or a budget has changed since evictions were tried."""
        server.watch(self._observe, ("Pod", "PodDisruptionBudget"))
        self.loop.passes_matter(self._is_busy)

    @property
    def left(self) -> int:
        """How many pods are still to go."""
        return len(self._left)

    def run(self) -> Work:
        """Sort the pods, and begin with their evictions."""
        pods = self.server.pods_of_node(self.node)
        pods = [pod for pod in pods if MIRROR not in annotations_of(pod)]
        daemons = [pod for pod in pods if _kind(pod) == "DaemonSet" and not is_finished(pod)]
        bare = [pod for pod in pods if not _kind(pod) and not is_finished(pod)]
        if daemons:
            self.facts["ignored"] = len(daemons)
        if bare:
            self.facts["reported"] = [key_of(pod) for pod in bare]
        if bare and not self.force:
            self.facts |= {"aborted": True, "until": round(self.loop.now)}
            return
        ignored = set(map(key_of, daemons))
        going = [pod for pod in pods if key_of(pod) not in ignored]
        self._left = {key_of(pod): uid_of(pod) for pod in going}
        self._end()
        for pod in going:
            self.loop.spawn(self._evict(pod))
        yield []

    def _evict(self, pod: Manifest, *, again: bool = False) -> Work:
        key, uid = key_of(pod), uid_of(pod)
        try:
            yield self.client.call("create", pod, lambda: evict(self.server, key, uid))
            self.facts["evicted"] += 1
            self._answered(key)
        except StatusError as error:
            if error.code in (404, 409):
                self._answered(key)
            elif error.code == 429:
                self._refuse(pod, error, again=again)
            else:
                self.facts.setdefault("errors", []).append(str(error))
                self.refusals[key] = error.explained
                self.refused(pod, error)

    def _refuse(self, pod: Manifest, error: StatusError, *, again: bool) -> None:
        self.facts["refused"] = self.facts.get("refused", 0) + 1
        self.refusals[key_of(pod)] = error.explained
        if not again:
            self.refused(self.server.get("Pod", key_of(pod)) or pod, error)
        self._retries += 1
        self.loop.pass_at(self.loop.now + RETRY_SECONDS, self._evict_again, pod)

    def _evict_again(self, pod: Manifest) -> None:
        self._retries -= 1
        self._stale = False
        self.loop.spawn(self._evict(pod, again=True))

    def _is_busy(self) -> bool:
        return self._stale and self._retries > 0

    def _answered(self, key: str) -> None:
        self._accepted.add(key)
        self.refusals.pop(key, None)
        self._gone(key)

    def _observe(self, write: Any) -> None:
        self._stale = self._stale or write.kind in ("Pod", "PodDisruptionBudget")
        if write.kind == "Pod" and write.new is None:
            self._gone(write.key)

    def _gone(self, key: str) -> None:
        """Note that a pod is gone, of which the drain knows once its eviction was answered."""
        found = self.server.get("Pod", key)
        if key in self._accepted and (found is None or uid_of(found) != self._left.get(key)):
            self._left.pop(key, None)
            self._end()

    def _end(self) -> None:
        if not self._left and self.facts["until"] is None:
            self.facts["until"] = round(self.loop.now)


def _kind(pod: Manifest) -> str:
    owner = controller_of(pod)
    return str(owner["kind"]) if owner is not None else ""


def cordoned(node: Manifest, *, on: bool) -> Manifest:
    """Return a node that takes no further pods, or takes them again."""
    return with_spec(node, unschedulable=True if on else None)
