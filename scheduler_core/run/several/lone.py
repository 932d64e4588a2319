"""Step through a scenario as a kube-scheduler v1.37 by itself would, with controllers and kubelets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scheduler_core.kubernetes.kinds import MANIFEST_KINDS
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.run.several.simulation import SeveralSimulation
from scheduler_core.run.several.v1_37_view import V1_37View
from scheduler_core.run.v1_37.groups import group_lines, untried_because
from scheduler_core.schedulers.v1_37 import RELEASE
from scheduler_core.schedulers.v1_37.run import SchedulerRun


class LoneSimulation(SeveralSimulation):
    """Step through what kube-scheduler v1.37 and the controllers do with a scenario.

    It is the only scheduler of the API server and hears of each write at once; its cycle takes a millisecond,
    as in a run without controllers, and no record of views is made.

    Raises:
        PolicyError: The scenario's configuration cannot be used.
    """

    release = RELEASE
    lone = True

    @property
    def run(self) -> SchedulerRun:
        """The scheduler with its queue, and its cluster of manifests."""
        view = self.observed
        assert isinstance(view, V1_37View)
        return view.scheduler_run

    def untried_because(self, pod: str) -> str:
        """Return why a waiting pod has had no attempt."""
        return untried_because(self.run, pod, self.unmade_claims)

    @property
    def unmade_claims(self) -> Mapping[str, str]:
        """Why ResourceClaims could not be made, by pod."""
        return {}

    def notes(self) -> Iterator[str]:
        """Yield the state of each PodGroup."""
        yield from group_lines(self.run)

    def unread_manifests(self) -> list[Document]:
        """Return the manifests of all kinds that only v1.37 reads."""
        assert self.manifests is not None
        return [one for kind in MANIFEST_KINDS for one in self.manifests.list(kind)]
