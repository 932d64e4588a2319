"""What is known of a bundle while it is loaded: its documents, and what each pass has found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, TypedDict

from scheduler_core.formats.bundle import Bundle, BundleEntry
from scheduler_core.formats.helm import blame_templates
from scheduler_core.formats.limits import Limits
from scheduler_core.formats.problems import format_problem, problems_of
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.kubernetes.readers import Report
from scheduler_core.progress import Watch, unwatched
from scheduler_core.scenario.assembly import Assembly
from scheduler_core.scenario.controller_work import has_work, names_plugin, schedulers_named
from scheduler_core.scenario.intake import Intake
from scheduler_core.scenario.kueue import KueueSetup, has_queues
from scheduler_core.scenario.operation_reader import OperationReader
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.schedulers.extenders.answers import Answers
from scheduler_core.schedulers.firmament import NAME as FIRMAMENT
from scheduler_core.schedulers.kube_batch.document import BATCH_SCHEDULER
from scheduler_core.schedulers.table import SUPPORT, support_beside
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration
from scheduler_core.schedulers.v1_22.schedulers import SCHEDULERS
from scheduler_core.settings.release import Release, default_release, row_of
from scheduler_core.settings.settings import DEFAULT_SETTINGS, SETTINGS_KIND

if TYPE_CHECKING:
    from scheduler_core.cluster.descheduler.configuration import DeschedulerConfiguration

DEFAULT_LIMITS = Limits()


class Options(TypedDict, total=False):
    """How a bundle is read; what is not given is as in ``DEFAULTS``."""

    title: str
    #: controllers' workloads become pods
    expand: bool
    #: the API server's admission is applied to each object
    admission: bool
    #: a release, over that of the settings
    scheduler: str
    #: a release for a bundle that chooses none; "" is the default
    presumed: str
    #: choose as settings do that name what only v1.11 reads
    only_v1_11: bool
    #: set over those of the settings
    feature_gates: Mapping[str, bool] | None
    #: controllers run where there is something for them to do
    controllers: bool
    #: controllers run even if there is nothing
    living: bool
    limits: Limits
    #: is notified of the progress, and may abort by raising
    watch: Watch


DEFAULTS = Options(
    title="",
    expand=True,
    admission=True,
    scheduler="",
    presumed="",
    only_v1_11=False,
    feature_gates=None,
    controllers=True,
    living=False,
    limits=DEFAULT_LIMITS,
    watch=unwatched,
)


class LoadState(Intake):
    """The documents of one bundle, and what the passes over them have made so far.

    ``extensible`` keeps the cluster as it is before the first operation.
    """

    def __init__(self, bundle: Bundle, options: Options, *, extensible: bool = False) -> None:
        self.options = options = {**DEFAULTS, **options}
        self.limits, self.watch = options["limits"], options["watch"]
        super().__init__(Report(strict=options["admission"], limit=self.limits.problems))
        self.bundle = bundle
        self.sources = {source.name: source for source in bundle.sources()}
        self.errors = [format_problem(source, error) for source, error in bundle.errors]
        self.left: Sequence[Problem] = ()  # of documents that were left out before
        self.assumed: Sequence[Problem] = ()  # of what a dump lacks that controllers start from
        self.assembly = Assembly(
            self.report,
            self.limits,
            expand=options["expand"],
            admission=options["admission"],
            watch=self.watch,
        )
        self.extensible = extensible
        self.before_operations: OperationReader | None = None
        self.chosen = DEFAULT_SETTINGS
        self.configuration = Configuration(None, DEFAULT_SETTINGS)
        self.batch = ""  # the configuration of kube-batch
        self.descheduler: DeschedulerConfiguration | None = None
        self.with_controllers = True  # no history is a recording
        self.timed = False  # settings let time pass, from the start or by an operation
        self.release = ""
        self.row: Release = row_of(default_release())
        self.lives = False  # time passes only for controllers, or for a plugin that holds pods
        self.plane = False  # a control plane runs
        self.crons: tuple[Document, ...] = ()
        self.kueue: KueueSetup | None = None
        self.objects: Sequence[KubernetesObject] = ()
        self.operations: tuple[Operation, ...] = ()
        self.answers_read: tuple[Answers, ...] = ()
        self.scenario: Scenario | None = None

    @cached_property
    def asks_batch(self) -> bool:
        """Whether time passes and a custom scheduler runs: pods name it, or kube-batch has a file."""
        return self.timed and (bool(self.batches) or bool(self.named))

    @cached_property
    def named(self) -> frozenset[str]:
        """The custom schedulers that pods name."""
        return schedulers_named(self.documents, {BATCH_SCHEDULER, FIRMAMENT, *SCHEDULERS})

    @cached_property
    def queues(self) -> bool:
        """Whether Kueue has something to give."""
        return has_queues(chain.from_iterable(self.ignored.values()))

    def refuse_if_wrong(self) -> None:
        """Raise BundleError with all errors, if there are any."""
        problems = [*self.errors, *problems_of(self.report.errors)]
        if not problems:
            return
        problems = sorted(blame_templates(problems, self.sources), key=Problem.place)
        if self.report.unlisted:
            problems.append(Problem(f"and {self.report.unlisted:,} more problems of the same input"))
        raise BundleError(problems, self.noteworthy(checked=bool(self.assembly.checks)))

    def has_work(self) -> bool:
        """Return whether controllers run under a release that runs without them otherwise."""
        if not self.options["controllers"]:
            return False
        if self.timed or self.assembly.recorded:
            return self.timed
        forced = self.options["living"] or self.descheduler is not None
        return forced or self.queues or has_work(self.documents)

    def release_presumed(self) -> str:
        """Return the release for a bundle that chooses none."""
        return self.options["presumed"] or default_release()

    def holds_pods(self) -> bool:
        """Return whether a plugin makes pods wait, from the start or by an operation: then time passes."""
        written = [entry.value for entry in (*self.configurations[:1], *self.scenarios[:1])]
        return names_plugin(written, SUPPORT[self.release].holding)

    @property
    def settings_entry(self) -> BundleEntry:
        """The document of the settings, an empty one if there is none."""
        return self.settings[0] if self.settings else BundleEntry({}, SETTINGS_KIND)

    def unread(self) -> Iterator[BundleEntry]:
        """Yield the documents that are read only by what some release checks."""
        return chain(self.namespaces, *self.ignored.values())

    def checks(self) -> tuple[Any, ...]:
        """Return what the schedulers that run check of objects."""
        asked = (SUPPORT[self.release], *(support_beside(self.chosen) if self.row.is_timed else ()))
        return tuple(one.check_objects for one in asked if one.check_objects is not None)
