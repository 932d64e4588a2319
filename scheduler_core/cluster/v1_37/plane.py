"""The control plane of v1.37: the API server, its controllers and the stand-ins, on one clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from scheduler_core.cluster.v1_37.cronjob import CronJobs
from scheduler_core.cluster.v1_37.daemonset import DaemonSets
from scheduler_core.cluster.v1_37.deployment import Deployments
from scheduler_core.cluster.v1_37.disruption import Disruption
from scheduler_core.cluster.v1_37.gc import GarbageCollector
from scheduler_core.cluster.v1_37.job import Jobs
from scheduler_core.cluster.v1_37.kubelet import Kubelets
from scheduler_core.cluster.v1_37.loop import Loop
from scheduler_core.cluster.v1_37.nodelifecycle import NodeLifecycle, NodeOptions
from scheduler_core.cluster.v1_37.objects import Manifest
from scheduler_core.cluster.v1_37.podgc import PodGC
from scheduler_core.cluster.v1_37.replicaset import ReplicaSets, ReplicationControllers
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.statefulset import StatefulSets
from scheduler_core.cluster.v1_37.tainteviction import TaintEviction
from scheduler_core.cluster.v1_37.ttl import TTLAfterFinished
from scheduler_core.cluster.v1_37.volumes import Volumes

START, RESTART = -0.8, 0.2
"""When controllers start, in virtual seconds: in an empty cluster, or on the objects of one that runs."""

CONTROLLERS: tuple[type[Any], ...] = (
    TaintEviction,
    PodGC,
    Deployments,
    StatefulSets,
    DaemonSets,
    ReplicaSets,
    ReplicationControllers,
    Jobs,
    CronJobs,
    TTLAfterFinished,
    GarbageCollector,
    Disruption,
    Volumes,
)
"""The controllers but for that of nodes, which reads the kubelets' leases. A controller is a row here."""


class ControlPlane:
    """A cluster whose virtual time 0 is ``epoch`` in seconds since 1970.

    It is empty, or has the ``objects`` of a cluster that runs, stored as they are: kubelets go on from their
    pods' status, and controllers that know nothing else, and who else watches it, start on them at
    :data:`RESTART`. Owners whose uids are ``unlisted`` count as there. ``watch`` is called with the API
    server before anybody else.
    """

    def __init__(
        self,
        options: NodeOptions,
        watch: Callable[[ApiServer], Any],
        epoch: int,
        objects: Iterable[Manifest] | None = None,
        unlisted: Iterable[str] = (),
    ) -> None:
        self.loop = Loop(epoch, START if objects is None else RESTART)
        self.server = ApiServer(self.loop)
        if objects is not None:
            self.server.keep(objects)
        self.watcher = watch(self.server)
        self.kubelets = Kubelets(self.server)
        if objects is not None:
            self._go_on()
        self.nodes = NodeLifecycle(self.server, self.kubelets, options)
        self.controllers = {make.__name__: make(self.server) for make in CONTROLLERS}
        self.controllers["GarbageCollector"].unlisted |= set(unlisted)
        if objects is None:
            self.loop.advance(0.0)

    def _go_on(self) -> None:
        """Let the kubelets go on, and whoever watches from now on read what is stored when it starts."""
        self.kubelets.go_on()
        self.server.hold()
        self.loop.at(self.loop.start, self._start)

    def _start(self) -> None:
        self.server.release()
        self.nodes.first_pass()
        self.controllers["PodGC"].first_pass()
