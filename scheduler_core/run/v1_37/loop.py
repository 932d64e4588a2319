"""What every run of one kube-scheduler v1.37 has, with controllers or without."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping

from scheduler_core.kubernetes.kinds import MANIFEST_KINDS
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import Pod
from scheduler_core.run.loop import Stepper
from scheduler_core.run.v1_37.claims import with_claims
from scheduler_core.run.v1_37.groups import MemberOutcome, group_lines, outcomes_of, untried_because
from scheduler_core.run.v1_37.manifests import ManifestStore
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_37.run import Ran, SchedulerRun

DEFAULT = "default-scheduler"


class V1_37Stepper(Stepper):
    """A stepwise run of a scenario by one kube-scheduler v1.37."""

    _members: dict[str, MemberOutcome]

    @property
    def release(self) -> str:  # type: ignore[override]
        """Which kube-scheduler it is."""
        return self.run.configuration.dialect.name

    @property
    @abstractmethod
    def run(self) -> SchedulerRun:
        """The scheduler with its queue, and its cluster of manifests."""

    @property
    @abstractmethod
    def unmade_claims(self) -> Mapping[str, str]:
        """Why ResourceClaims could not be made, by pod."""

    @property
    @abstractmethod
    def stored(self) -> ManifestStore:
        """The manifests that the API server has."""

    def unread_manifests(self) -> list[Document]:
        """Return the manifests of all kinds that only v1.37 reads, claims with their devices."""
        return [one for kind in MANIFEST_KINDS for one in self.stored.list(kind)]

    def completed(self, document: Document, pod: Pod) -> Document:
        """Return a pod's manifest, its status naming the ResourceClaims that were made for it."""
        return with_claims(document, pod, self.stored)

    @property
    def profile(self) -> Profile:
        """The default scheduler's profile as views of v1.11 read it; v1.37's own is in ``run``."""
        return self._configuration.profile

    @property
    def profiles(self) -> dict[str, Profile]:
        """The same profile for each schedulerName that v1.37 is responsible for."""
        names = self.run.configuration.profiles
        return {**dict.fromkeys(names, self.profile), **({"": self.profile} if DEFAULT in names else {})}

    @property
    def members(self) -> Mapping[str, MemberOutcome]:
        """What the last cycle of its PodGroup came to, by pod."""
        return self._members

    def _keep_members(self, ran: Ran, index: int) -> None:
        """Keep what the cycle with this number came to for the members of a group."""
        self._members.pop(ran.pod, None)
        self._members.update(outcomes_of(ran, index))

    def outcome_in_group(self, pod: str) -> MemberOutcome | None:
        """Run the next cycle; return what it came to for the pod as a member of its PodGroup."""
        self.step()
        return self._members.get(pod)

    def untried_because(self, pod: str) -> str:
        """Return why a waiting pod has had no attempt."""
        return untried_because(self.run, pod, self.unmade_claims)

    def notes(self) -> Iterator[str]:
        """Yield the state of each PodGroup."""
        yield from group_lines(self.run)
