"""The figures by which designs are compared: use, waits, gangs, and room that idles while pods wait."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from scheduler_core.cluster.controllers.kubelet import is_admitted
from scheduler_core.kubernetes.model import KubernetesObject, Pod, PodGroup
from scheduler_core.run.several.server import SharedCluster
from scheduler_core.schedulers.kube_batch.snapshot import group_of
from scheduler_core.schedulers.v1_22.clock import VirtualClock

DEFAULT = "default-scheduler"
SHAPES = 64  # different requests of pending pods that are compared with the nodes at a moment


@dataclass(slots=True)
class Wait:
    """Seconds from the creation of a scheduler's pods until a kubelet admitted them."""

    admitted: int = 0
    total: float = 0.0
    longest: float = 0.0

    @property
    def mean(self) -> float:
        """The mean, 0 without pods."""
        return self.total / self.admitted if self.admitted else 0.0


@dataclass(slots=True)
class Gang:
    """A PodGroup: how many have to run, when its first pod came, how many run, and when they were enough."""

    least: int
    since: float | None = None
    running: int = 0
    full: float | None = None

    @property
    def took(self) -> float | None:
        """Seconds from its first pod until enough of them ran at once, ``None`` if they never did."""
        return None if self.full is None or self.since is None else self.full - self.since


@dataclass(slots=True)
class _Known:
    """What a pod counts for: since when it has waited, and what it holds."""

    pod: Pod
    since: float
    admitted: bool = False
    cpu: int = 0
    running: bool = False


@dataclass(slots=True)
class Figures:
    """Figures of a run, kept while it runs. Waits are by scheduler, gangs by ``namespace/name``.

    ``used`` and ``there`` are milli-CPU times seconds, of admitted pods and of all nodes; ``idle`` is pods
    times seconds in which a pod was pending though some node had room for what it requests.
    """

    clock: VirtualClock
    server: SharedCluster
    waits: dict[str, Wait] = field(default_factory=dict)
    gangs: dict[str, Gang] = field(default_factory=dict)
    used: float = 0.0
    there: float = 0.0
    idle: float = 0.0
    _pods: dict[str, _Known] = field(default_factory=dict)
    _pending: dict[str, Pod] = field(default_factory=dict)
    _cpu: int = 0
    _capacity: int = 0
    _idling: int = 0
    _last: float = 0.0
    _changed: bool = True

    @property
    def utilization(self) -> float:
        """The share of the nodes' CPU that admitted pods requested, over the run: 0 to 1."""
        return self.used / self.there if self.there else 0.0

    def start(self) -> None:
        """Take the objects that there are."""
        self._last = self.clock.now
        for key, group in self.server.groups.items():
            self.written("PodGroup", key, group)
        for key, pod in self.server.pods.items():
            self.written("Pod", key, pod)

    def look(self) -> None:
        """Count the time that has passed; call it when nothing else happens at this moment."""
        self._pass()
        if self._changed:
            self._changed = False
            columns = self.server.cluster.columns
            self._capacity = int(columns.allocatable[0].sum())
            self._idling = self._count_idling()

    def _pass(self) -> None:
        """Count the time that has passed with the state that it passed with."""
        now = self.clock.now
        if (passed := now - self._last) > 0:
            self.used += self._cpu * passed
            self.there += self._capacity * passed
            self.idle += self._idling * passed
            self._last = now

    def written(self, kind: str, key: str, obj: KubernetesObject | None) -> None:
        """Take a write at the API server."""
        self._pass()
        self._changed = True
        if kind == "PodGroup" and isinstance(obj, PodGroup):
            self.gangs.setdefault(key, Gang(obj.min_member)).least = obj.min_member
        if kind != "Pod":
            return
        known = self._pods.get(key)
        if known is not None and (not isinstance(obj, Pod) or obj.meta.uid != known.pod.meta.uid):
            self._put(known, None)
            del self._pods[key]
            known = None
        if not isinstance(obj, Pod):
            self._pending.pop(key, None)
            return
        if known is None:
            known = self._pods[key] = _Known(obj, self.clock.now)
        self._put(known, obj)
        if obj.node_name or obj.terminal:
            self._pending.pop(key, None)
        else:
            self._pending[key] = obj

    def _put(self, known: _Known, pod: Pod | None) -> None:
        now = self.clock.now
        admitted = pod is not None and is_admitted(pod)
        if pod is not None:
            known.pod = pod
        if admitted and not known.admitted:
            wait = self.waits.setdefault(known.pod.scheduler_name or DEFAULT, Wait())
            took = now - known.since
            wait.admitted, wait.total = wait.admitted + 1, wait.total + took
            wait.longest = max(wait.longest, took)
        known.admitted = known.admitted or admitted
        cpu = sum(one.requests.get("cpu", 0) for one in known.pod.containers) if admitted else 0
        self._cpu += cpu - known.cpu
        known.cpu = cpu
        self._put_in_gang(known, running=admitted and known.pod.phase == "Running")

    def _put_in_gang(self, known: _Known, *, running: bool) -> None:
        pod = known.pod
        name = group_of(pod) or (f"{pod.meta.namespace}/{pod.pod_group}" if pod.pod_group else "")
        gang = self.gangs.get(name)
        if gang is None:
            return
        if gang.since is None:
            gang.since = known.since
        gang.running += running - known.running
        known.running = running
        if gang.full is None and gang.running >= gang.least:
            gang.full = self.clock.now

    def _count_idling(self) -> int:
        """Return how many pending pods some node has room for, by what is bound there."""
        if not self._pending:
            return 0
        cluster = self.server.cluster
        rows = cluster.columns.allocatable[:2]
        free = rows - cluster.used[:2]
        counts: dict[tuple[int, int], int] = {}
        for pod in self._pending.values():
            shape = (
                sum(one.requests.get("cpu", 0) for one in pod.containers),
                sum(one.requests.get("memory", 0) for one in pod.containers),
            )
            counts[shape] = counts.get(shape, 0) + 1
        found = 0
        for (cpu, memory), count in list(counts.items())[:SHAPES]:
            fits = (free[0] >= cpu) & ((free[1] >= memory) | (memory == 0))
            found += count if bool(np.any(fits)) else 0
        return found
