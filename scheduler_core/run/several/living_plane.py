"""The control plane of v1.37 under any schedulers: controllers, kubelets and the descheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from msgspec.structs import replace

from scheduler_core.cluster.availability import MOST_FAILED
from scheduler_core.cluster.descheduler.actor import Descheduler
from scheduler_core.cluster.kueue.actor import Kueue
from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.record.availability import Availability
from scheduler_core.run.building import options_for
from scheduler_core.run.control import Manager
from scheduler_core.run.landing import record_operation
from scheduler_core.run.several.control_plane import ControlPlaneManager
from scheduler_core.run.several.descheduling import DeschedulerObserver
from scheduler_core.run.several.living_server import LivingServer
from scheduler_core.run.several.manifests import StoredManifests
from scheduler_core.run.several.queueing import QueueingObserver
from scheduler_core.run.several.running_dump import taken_at
from scheduler_core.run.several.server import SharedCluster
from scheduler_core.run.several.simulation import SeveralSimulation
from scheduler_core.scenario.scenario import Operation, Scenario


class LivingSimulation(SeveralSimulation):
    """Step through what schedulers do in a cluster with the controllers and kubelets of v1.37.

    The bundle's descheduler is one more client of its API server.

    Raises:
        PolicyError: The scenario's configuration cannot be used.
    """

    def __init__(
        self, scenario: Scenario, *, trace: bool = True, interrupt: Callable[[], None] | None = None
    ) -> None:
        super().__init__(scenario, trace=trace, interrupt=interrupt)
        if self.descheduler is not None:
            self.observers.append(DeschedulerObserver(self.descheduler))
        if self.kueue is not None:
            self.observers.append(QueueingObserver(self.kueue))

    def _make_manager(self) -> Manager:
        scenario = self.scenario
        if not scenario.controllers:
            return super()._make_manager()
        options = options_for(scenario.objects, scenario.most_pods)
        now = taken_at(scenario)
        if now is not None:
            options = replace(options, epoch=now)
        return ControlPlaneManager(scenario, options)

    def _make_server(self, objects: Iterable[KubernetesObject], **given: Any) -> SharedCluster:
        manager = given["manager"]
        if isinstance(manager, ControlPlaneManager):
            return super()._make_server(manager.listed, **{"kind": LivingServer, **given})
        return super()._make_server(objects, **given)

    def _listed(self) -> Iterable[KubernetesObject]:
        manager = self.framework.manager
        return manager.listed if isinstance(manager, ControlPlaneManager) else super()._listed()

    def _make_manifests(self, server: SharedCluster) -> StoredManifests:
        manager = server.manager
        if isinstance(manager, ControlPlaneManager):
            return manager.manifests
        return super()._make_manifests(server)

    def _operate(self, operation: Operation) -> None:
        manager = self.framework.manager
        if isinstance(manager, ControlPlaneManager) and manager.operates(operation):
            record_operation(self.framework, operation)
            manager.operate(operation)
            self.framework.ask_to_settle()
        else:
            super()._operate(operation)

    def _shared(self) -> Iterator[object]:
        yield from super()._shared()
        manager = self.framework.manager
        if isinstance(manager, ControlPlaneManager):
            yield manager.listed

    @property
    def descheduler(self) -> Descheduler | None:
        """The bundle's descheduler, ``None`` if it has none."""
        manager = self.framework.manager
        return manager.descheduler if isinstance(manager, ControlPlaneManager) else None

    @property
    def kueue(self) -> Kueue | None:
        """Kueue, ``None`` if the bundle has no ClusterQueue."""
        manager = self.framework.manager
        return manager.kueue if isinstance(manager, ControlPlaneManager) else None

    def notes(self) -> Iterator[str]:
        """Yield the state of each PodGroup, and the drains that go on."""
        yield from super().notes()
        yield from self._drains()

    def availability(self) -> Availability | None:
        """Return the availability of all workloads until now, and the drains that go on as failed."""
        found, manager = super().availability(), self.framework.manager
        if found is None or not isinstance(manager, ControlPlaneManager):
            return found
        failed = dict.fromkeys((*found.failed, *manager.unfinished()))
        return replace(found, failed=tuple(islice(failed, MOST_FAILED)))

    def _drains(self) -> Iterator[str]:
        manager = self.framework.manager
        if isinstance(manager, ControlPlaneManager):
            yield from manager.unfinished()
