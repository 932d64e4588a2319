"""What reports, comparisons and manifests ask of a run; each release overrides what differs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from scheduler_core.kubernetes.keys import Key
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import KubernetesObject, Pod
from scheduler_core.record.availability import Availability
from scheduler_core.record.cycle import Cycle
from scheduler_core.scenario.scenario import Scenario

if TYPE_CHECKING:  # most runs have none of these
    from scheduler_core.cluster.descheduler.actor import Descheduler
    from scheduler_core.cluster.kueue.actor import Kueue
    from scheduler_core.run.control import ControlledFramework
    from scheduler_core.run.several.figures import Figures
    from scheduler_core.run.several.ledger import BindingLedger
    from scheduler_core.run.v1_37.groups import MemberOutcome
    from scheduler_core.schedulers.v1_37.run import SchedulerRun


class Contest(NamedTuple):
    """What became of decisions made on views of their own, and what the design is measured by."""

    ledger: BindingLedger
    figures: Figures


class OwnRun(NamedTuple):
    """The run of v1.37 that one of several schedulers keeps, and the nodes of the pods that it assumed."""

    label: str
    run: SchedulerRun
    assumed: Mapping[str, str]


class ReportedRun(Protocol):
    """A run, as reports see it. Simulations inherit the answers of one that has nothing to add."""

    scenario: Scenario
    release: ClassVar[str]  # that it runs, whatever the scenario chooses

    @property
    def members(self) -> Mapping[str, MemberOutcome]:
        """What the last cycle of its PodGroup came to, by pod."""
        return {}

    @property
    def observed(self) -> ControlledFramework | None:
        """The framework whose queues and plugins a record shows, ``None`` without virtual time."""
        return None

    @property
    def contest(self) -> Contest | None:
        """What became of several schedulers' decisions, ``None`` if all share one view."""
        return None

    def own_run_for(self, pod: Pod) -> OwnRun | None:
        """Return the run of the scheduler that is responsible for a pod, if it keeps one of its own."""
        del pod
        return None

    def custom_report(self, pod: Pod) -> str:
        """Return what a custom scheduler reported of its pending pod at its last attempt, "" if nothing."""
        del pod
        return ""

    def outcome_in_group(self, pod: str) -> MemberOutcome | None:
        """Run the next cycle, if one may be a PodGroup's; return what it came to for the pod as a member."""
        del pod
        return None

    @property
    def compiled_copies(self) -> int:
        """How many schedulers have an object compiled from each manifest."""
        return 0

    @property
    def descheduler(self) -> Descheduler | None:
        """The descheduler that evicts pods of the run, ``None`` if there is none."""
        return None

    @property
    def kueue(self) -> Kueue | None:
        """Kueue, which holds Jobs and pods of the run, ``None`` if there is none."""
        return None

    def notes(self) -> Iterator[str]:
        """Yield lines for the summary of the run."""
        yield from ()

    def counts(self) -> dict[str, float]:
        """Return what a benchmark counts beside cycles, by the name in its output."""
        return {}

    def availability(self) -> Availability | None:
        """Return the availability of all workloads until now, ``None`` for a run in which no time passes."""
        return None

    @property
    def terminating(self) -> Collection[str]:
        """The pods that are deleted, and there until a kubelet has ended them."""
        return ()

    def untried_because(self, pod: str) -> str:
        """Return why a pending pod has had no attempt."""
        del pod
        return "not tried"

    def spare_records(self) -> None:
        """Record no more than decisions, scores and feasible nodes, if the rest is most of the time."""
        return

    def with_matrices(self, cycle: Cycle) -> Cycle | None:
        """Return a cycle of this run with its matrices, run again after :meth:`spare_records`."""
        return cycle

    def live_object(self, kind: str, key: str) -> KubernetesObject | None:
        """Return an object as scheduler and controllers have left it, ``None`` if there is none."""
        del kind, key
        return None

    def controlled_objects(self) -> Mapping[Key, KubernetesObject] | None:
        """Return what the controllers' store has, ``None`` for a run without controllers."""
        return None

    def recorded_answers(self) -> Document | None:
        """Return what extenders answered, as a document that replays the run; ``None`` if none was called."""
        return None

    def unread_manifests(self) -> list[Document]:
        """Return the manifests of objects without a typed object."""
        return [document for document in self.scenario.documents if document.get("kind") == "Namespace"]

    def completed(self, document: Document, pod: Pod) -> Document:
        """Return a pod's manifest with what the run has added to it, its node aside."""
        del pod
        return document
