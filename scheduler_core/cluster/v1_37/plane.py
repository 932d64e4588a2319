"""The control plane of v1.37: the API server, its controllers and the stand-ins, on one clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler_core.cluster.v1_37.cronjob import CronJobs
from scheduler_core.cluster.v1_37.daemonset import DaemonSets
from scheduler_core.cluster.v1_37.deployment import Deployments
from scheduler_core.cluster.v1_37.disruption import Disruption
from scheduler_core.cluster.v1_37.gc import GarbageCollector
from scheduler_core.cluster.v1_37.job import Jobs
from scheduler_core.cluster.v1_37.kubelet import Kubelets
from scheduler_core.cluster.v1_37.loop import Loop
from scheduler_core.cluster.v1_37.nodelifecycle import START, NodeLifecycle, NodeOptions
from scheduler_core.cluster.v1_37.podgc import PodGC
from scheduler_core.cluster.v1_37.replicaset import ReplicaSets, ReplicationControllers
from scheduler_core.cluster.v1_37.server import ApiServer
from scheduler_core.cluster.v1_37.statefulset import StatefulSets
from scheduler_core.cluster.v1_37.tainteviction import TaintEviction
from scheduler_core.cluster.v1_37.ttl import TTLAfterFinished
from scheduler_core.cluster.v1_37.volumes import Volumes

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
    """An empty cluster at virtual time 0, which is ``epoch`` in seconds since 1970.

    ``watch`` is called with its API server before anybody else.
    """

    def __init__(self, options: NodeOptions, watch: Callable[[ApiServer], Any], epoch: int) -> None:
        self.loop = Loop(epoch)
        self.loop.now = START
        self.server = ApiServer(self.loop)
        self.watcher = watch(self.server)
        self.kubelets = Kubelets(self.server)
        self.nodes = NodeLifecycle(self.server, self.kubelets, options)
        self.controllers = {make.__name__: make(self.server) for make in CONTROLLERS}
        self.loop.advance(0.0)
