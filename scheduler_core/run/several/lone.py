"""Step through a scenario as a kube-scheduler v1.37 by itself would, with controllers and kubelets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from scheduler_core.kubernetes.kinds import MANIFEST_KINDS
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import KubernetesObject, Pod
from scheduler_core.record.timeline import TimelineEvent
from scheduler_core.run.landing import record_operation
from scheduler_core.run.several.control_plane import ControlPlaneManager
from scheduler_core.run.several.living_plane import LivingSimulation
from scheduler_core.run.several.server import SharedCluster
from scheduler_core.run.several.v1_37_peer import V1_37Attempt
from scheduler_core.run.several.v1_37_view import V1_37View
from scheduler_core.run.v1_37.claims import with_claims
from scheduler_core.run.v1_37.loop import V1_37Stepper
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.schedulers.v1_22.record import Attempt
from scheduler_core.schedulers.v1_22.waiting import WaitingPod
from scheduler_core.schedulers.v1_37.configuration import runs_coscheduling
from scheduler_core.schedulers.v1_37.run import SchedulerRun


class LoneSimulation(V1_37Stepper, LivingSimulation):
    """Step through what kube-scheduler v1.37 and the controllers do with a scenario.

    It is the only scheduler of the API server and hears of each write at once; its cycle takes a millisecond,
    as in a run without controllers, and no record of views is made.

    Raises:
        PolicyError: The scenario's configuration cannot be used.
    """

    lone = True

    def __init__(
        self, scenario: Scenario, *, trace: bool = True, interrupt: Callable[[], None] | None = None
    ) -> None:
        self._members = {}
        super().__init__(scenario, trace=trace, interrupt=interrupt)

    def _decide(self) -> tuple[Attempt, float]:
        attempt, began = super()._decide()
        if isinstance(attempt, V1_37Attempt) and attempt.ran is not None:
            self._keep_members(attempt.ran, self.index + 1)
        if attempt.result == "waiting":
            self._touch(attempt.pod)
            self._look()
        return attempt, began

    def _keep(self, what: Attempt | TimelineEvent) -> None:
        if isinstance(what, TimelineEvent) and isinstance(what.detail, WaitingPod):
            self._touch(what.about)  # it leaves the node that it held at Permit
        super()._keep(what)

    def placement(self) -> dict[str, str]:
        """Return the node of every pod, also that which it holds at Permit; "" for a pending one."""
        found = super().placement()
        held = {one.key: one.node for one in self.observed.waiting if found.get(one.key) == ""}
        return {**found, **held} if held else found

    def _place_of(self, key: str) -> str | None:
        """Return a pod's node, also that which it holds at Permit."""
        place = super()._place_of(key)
        held = self.observed.waiting.get(key) if place == "" else None
        return place if held is None else held.node

    def _make_server(self, objects: Iterable[KubernetesObject], **given: Any) -> SharedCluster:
        given["gangs"] = any(map(runs_coscheduling, self.scenario.configurations))
        given["indexes"] = isinstance(given["manager"], ControlPlaneManager)
        return super()._make_server(objects, **given)

    def _restart(self, operation: Operation) -> None:
        """Restart the scheduler: its queue is filled from the API server, controllers keep running."""
        server = self.framework
        assert isinstance(server, SharedCluster)
        assert operation.configuration is not None
        server.take_turns()
        record_operation(server, operation)
        self._configuration = operation.configuration
        for peer in self.peers:
            for waiting in peer.view.waiting:
                self._touch(waiting.key)
            peer.stop()
        self._start(server)
        self._restarted.append(operation.id)

    @property
    def run(self) -> SchedulerRun:
        """The scheduler with its queue, and its cluster of manifests."""
        view = self.observed
        assert isinstance(view, V1_37View)
        return view.scheduler_run

    @property
    def unmade_claims(self) -> Mapping[str, str]:
        """Why ResourceClaims could not be made, by pod."""
        return {} if self.claims is None else self.claims.problems

    def completed(self, document: Document, pod: Pod) -> Document:
        """Return a pod's manifest, its status naming the ResourceClaims that were made for it."""
        return document if self.manifests is None else with_claims(document, pod, self.manifests)

    def notes(self) -> Iterator[str]:
        """Yield the state of each PodGroup, and the drains that go on."""
        yield from super().notes()  # of a run of v1.37, which knows of no drain
        yield from self._drains()

    def unread_manifests(self) -> list[Document]:
        """Return the manifests of all kinds that only v1.37 reads."""
        assert self.manifests is not None
        return [one for kind in MANIFEST_KINDS for one in self.manifests.list(kind)]
