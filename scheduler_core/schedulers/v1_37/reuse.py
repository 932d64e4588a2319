"""What pods of one class share: verdicts and scores of all nodes, kept for the classes that were seen last.

It serves untraced attempts, and only where every plugin that takes part declares what is kept of it; for the
others :meth:`Reuse.choose` declines and the attempt is made in full.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from scheduler_core.forks import Memo
from scheduler_core.forks import copied as forked
from scheduler_core.schedulers.v1_37.alike import AlikeResults
from scheduler_core.schedulers.v1_37.class_results import Chosen
from scheduler_core.schedulers.v1_37.loans import copied, lend
from scheduler_core.schedulers.v1_37.plugins.base import Context
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration, KubeSchedulerProfile
from scheduler_core.schedulers.v1_37.state import ClusterState

MIN_CLASSES = 64
MAX_CELLS = 400_000
"""Classes times nodes; so many are kept, though not fewer than ``MIN_CLASSES`` classes."""

_KINDS = ("Service", "ReplicationController", "ReplicaSet", "StatefulSet", "Namespace", "DeviceClass")
"""Objects besides nodes and pods that the answers depend on."""


def state_of(cluster: ClusterState) -> tuple[int, ...]:
    """Return what changes with the objects that the answers of all classes depend on."""
    return cluster.nodes.structure, *[cluster.versions.get(kind, 0) for kind in _KINDS]


class Reuse:
    """The classes of pods that were seen last."""

    def __init__(self, cluster: ClusterState, configuration: CompiledConfiguration) -> None:
        self._cluster = cluster
        self._configuration = configuration
        self._classes: OrderedDict[tuple[Any, ...], AlikeResults] = OrderedDict()
        self._state: tuple[Any, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Store as an empty one for the stored cluster."""
        return Reuse, (self._cluster, self._configuration)

    def __deepcopy__(self, memo: Memo) -> Reuse:
        """Return one for the copied cluster; classes that are up to date are shared until one changes."""
        made = memo[id(self)] = Reuse(forked(self._cluster, memo), forked(self._configuration, memo))
        made._state = self._state
        for key, shared in self._classes.items():
            if shared.is_lent or lend(shared):
                made._classes[key] = shared
        return made

    def looks_at_nodes_alone(self, pod: CompiledPod) -> bool:
        """Return whether filters look at no more than each node for the pod that was tried last."""
        return self._classes[pod.spec_key].looks_at_nodes_alone()

    def catch_up(self) -> None:
        """Bring all classes up to date, so that a copy need not begin again."""
        self._drop_outdated()
        for key in list(self._classes):
            shared = self._own(key)
            if not shared.catch_up():
                del self._classes[key]
            elif shared.usable:
                shared.rescore_stale()

    def _drop_outdated(self) -> None:
        """Drop the classes if what they all depend on has changed."""
        state = state_of(self._cluster)
        if state != self._state:
            self._classes.clear()
            self._state = state

    def _own(self, key: tuple[Any, ...]) -> AlikeResults:
        """Return a class that nobody else changes."""
        shared = self._classes[key]
        if shared.is_lent:
            shared = self._classes[key] = copied(shared, self._cluster)
        return shared

    def choose(
        self, pod: CompiledPod, profile: KubeSchedulerProfile, start: int, given: int | None = None
    ) -> Chosen | None:
        """Choose a row from a walk that begins at ``start``; None if the attempt is to be made in full.

        ``given`` is the row that a recorded decision chose, which is then not searched for.
        """
        cluster = self._cluster
        if cluster.classes.with_affinity or not len(cluster.nodes.order) or not profile.points["score"]:
            return None
        if profile.unprepared:
            return None
        self._drop_outdated()
        key = pod.spec_key
        shared = self._own(key) if key in self._classes else None
        if shared is None or not shared.catch_up():
            shared = self._classes[key] = AlikeResults(Context(pod, cluster, profile, self._configuration))
            if len(self._classes) > max(MIN_CLASSES, MAX_CELLS // len(cluster.nodes.order)):
                self._classes.popitem(last=False)
        self._classes.move_to_end(key)
        if not shared.usable:
            return None
        if key is not shared.ctx.pod.spec_key:
            pod.share_compiled(shared.ctx.pod)
        return shared.choose(start, given)
