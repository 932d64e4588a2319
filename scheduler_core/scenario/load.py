"""Read a bundle in any of the formats into a :class:`Scenario`, reporting all problems at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from msgspec.structs import replace

from scheduler_core.formats.bundle import Bundle, Entry, File, SourceText, read_files
from scheduler_core.formats.duplicates import duplicate_findings
from scheduler_core.formats.helm import blame_templates
from scheduler_core.formats.kwok import read_kwok
from scheduler_core.formats.limits import Limits
from scheduler_core.formats.openb import read_tables
from scheduler_core.formats.problems import format_problem, problems_of, unknown_findings
from scheduler_core.formats.recorder import read_recorder
from scheduler_core.formats.simkube import read_simkube
from scheduler_core.kubernetes.keys import Key, key_of
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.kubernetes.readers import At, Report
from scheduler_core.progress import Watch, counted, unwatched
from scheduler_core.scenario import cron_jobs
from scheduler_core.scenario.assembly import Assembly
from scheduler_core.scenario.chosen_releases import has_controllers, releases_written
from scheduler_core.scenario.configuration_choice import adopted, choose, policies_of, with_passes
from scheduler_core.scenario.controller_work import asks_for_pass, has_work, names_plugin, schedulers_named
from scheduler_core.scenario.descheduler import read_descheduler
from scheduler_core.scenario.dump import missing_pods
from scheduler_core.scenario.extender_answers import (
    ASKING,
    warn_of_configuration,
    warn_of_later,
    warn_of_strangers,
)
from scheduler_core.scenario.history_entries import SCENARIO_KIND, with_entries
from scheduler_core.scenario.intake import Intake
from scheduler_core.scenario.kueue import KueueSetup, has_queues, waits_for_kueue
from scheduler_core.scenario.omissions import spare
from scheduler_core.scenario.operations import read_operations
from scheduler_core.scenario.reconfiguration import VERSIONS, Reconfiguration
from scheduler_core.scenario.references import check_references
from scheduler_core.scenario.running_dump import assumptions, dumped_objects
from scheduler_core.scenario.scenario import Operation, Scenario
from scheduler_core.scenario.shared_gpus import ON_ONE_GPU, shares_devices
from scheduler_core.scenario.unhonored_fields import Unhonored, found_in
from scheduler_core.schedulers.extenders.answers import Answers, read_answers
from scheduler_core.schedulers.firmament import NAME as FIRMAMENT
from scheduler_core.schedulers.firmament.flags import flag_warnings
from scheduler_core.schedulers.kube_batch.document import (
    BATCH_CONFIGURATION,
    BATCH_SCHEDULER,
    check_batch_configuration,
)
from scheduler_core.schedulers.table import SUPPORT, TYPED, checked, support_beside
from scheduler_core.schedulers.v1_22.configuration.profiles import Configuration
from scheduler_core.schedulers.v1_22.schedulers import SCHEDULERS
from scheduler_core.settings.descheduler import DESCHEDULE, DESCHEDULER_POLICY
from scheduler_core.settings.feature_gates import check_locked, read_gates
from scheduler_core.settings.release import (
    CONFIGURATION_KIND,
    GATED,
    PASSING_TIME,
    TIMED,
    chosen_release,
    default_release,
    in_time,
    release_of_nodes,
    row_of,
    row_with_controllers,
)
from scheduler_core.settings.settings import DEFAULT_SETTINGS, SETTINGS_KIND, Settings, read_settings

if TYPE_CHECKING:
    from scheduler_core.cluster.descheduler.configuration import DeschedulerConfiguration

DEFAULT_LIMITS = Limits()
_READ_FIRST = (*VERSIONS, DESCHEDULE, "schedulerName")
"""What an operation cannot name without being read together with the cluster."""
MOST_ROUNDS = 12  # of reading a directory again without what is wrong in it


def load(
    bundle: str | bytes | Sequence[File],
    *,
    title: str = "",
    expand: bool = True,
    admission: bool = True,
    times: Literal["keep", "ignore"] = "keep",
    limits: Limits = DEFAULT_LIMITS,
    watch: Watch = unwatched,
    scheduler: str = "",
    presumed: str = "",
    only_v1_11: bool = False,
    feature_gates: Mapping[str, bool] | None = None,
) -> Scenario:
    """Read a bundle: one text or archive, or a list of (file name, content) and directories.

    ``admission`` applies the API server's admission to each object; ``expand`` expands
    controllers into pods. ``times`` determines whether a CSV trace's times become operations of the
    scenario or are ignored (every pod is pending from the start, in order of creation). ``watch`` is
    notified of the progress and may abort by raising. ``scheduler`` is a release that overrides that of the
    settings; ``presumed`` answers a bundle that chooses none, "" being the default; ``only_v1_11`` chooses as
    settings do that name what only v1.11 reads. ``feature_gates`` are set over those of the settings. Raises
    BundleError with all errors.
    """
    files: list[File] = [("", bundle)] if isinstance(bundle, (str, bytes)) else list(bundle)
    read = read_files(files, limits, watch)
    read_tables(read, limits, keep_times=times == "keep")
    read_kwok(read, limits)
    read_recorder(read, limits)
    read_simkube(read, limits)

    def loading() -> _Loading:
        made = _Loading(title, limits, expand=expand, admission=admission, watch=watch)
        made.scheduler, made.presumed, made.only_v1_11 = scheduler, presumed, only_v1_11
        made.gates = feature_gates or {}
        return made

    return _load_what_can_be_read(read, loading)


def _load_what_can_be_read(bundle: Bundle, make: Callable[[], _Loading]) -> Scenario:
    """Read a bundle; what is wrong in a file of a directory or an archive is left out with a warning.

    Raises BundleError if a file that was passed by itself, or a configuration, has an error, and if nothing
    would be left.
    """
    left: list[Problem] = []
    for _ in range(MOST_ROUNDS):
        loading = make()
        loading.left = left
        try:
            return loading.run(bundle)
        except BundleError:
            spared = spare(bundle, loading.report.errors)
            if not spared:
                raise
            left = [*left, *spared]
    return make().run(bundle)


def load_documents(
    documents: Iterable[Mapping[str, Any]],
    *,
    title: str = "",
    expand: bool = True,
    admission: bool = True,
    limits: Limits = DEFAULT_LIMITS,
    watch: Watch = unwatched,
    scheduler: str = "",
    presumed: str = "",
    only_v1_11: bool = False,
    feature_gates: Mapping[str, bool] | None = None,
    controllers: bool = True,
    living: bool = False,
) -> Scenario:
    """Read parsed manifests. Like :func:`load`, but problems have a document number and no line.

    Without ``controllers`` they do not run under v1.37, whatever there is for them to do; ``living`` makes
    them run there even if there is nothing.
    """
    loading = _Loading(title, limits, expand=expand, admission=admission, watch=watch)
    loading.scheduler, loading.presumed, loading.only_v1_11 = scheduler, presumed, only_v1_11
    loading.gates, loading.controllers, loading.living = feature_gates or {}, controllers, living
    return loading.run(_bundle_of(documents))


def _bundle_of(documents: Iterable[Mapping[str, Any]]) -> Bundle:
    bundle = Bundle()
    for number, value in enumerate(documents, 1):
        bundle.entries.append(_entry_of(value, number))
    return bundle


def _entry_of(document: Mapping[str, Any], number: int) -> Entry:
    kind = document.get("kind")
    return Entry(dict(document), kind if isinstance(kind, str) else "", None, number)


class ExtensibleScenario:
    """A living scenario, and further operations on it, which are read without its other documents.

    Raises:
        BundleError: It cannot be read with controllers.
    """

    def __init__(self, scenario: Scenario, *, limits: Limits | None = None, watch: Watch = unwatched) -> None:
        settings, limits = scenario.settings, limits or Limits(pods=scenario.most_pods)
        self._loading = loading = _Loading(scenario.title, limits, expand=True, admission=True, watch=watch)
        loading.scheduler, loading.presumed = settings.scheduler, scenario.presumed
        loading.only_v1_11, loading.gates = settings.names_v1_11, dict(settings.feature_gates)
        loading.living = loading.extensible = True
        self._policy, self._settings = scenario.policy, settings
        self.scenario = loading.run(_bundle_of(scenario.documents)).under(scenario.policy, settings)

    def extended(self, entries: Sequence[dict[str, Any]]) -> Scenario:
        """Return the scenario with further entries of a Scenario document.

        Its warnings are those of the scenario, and what is found in the operations.

        Raises:
            BundleError: An operation cannot be read.
        """
        own = self.scenario
        documents = with_entries(own.documents, entries)
        if any(name in str(entry) for entry in entries for name in _READ_FIRST):
            return ExtensibleScenario(replace(own, documents=tuple(documents))).scenario
        return self._loading.extended(own, documents).under(self._policy, self._settings)


def read_text(text: str, *, scheduler: str = "", feature_gates: Mapping[str, bool] | None = None) -> Scenario:
    """Read a text for its documents alone. Raises what :func:`load` raises."""
    gates = feature_gates
    return load(text, expand=False, admission=False, presumed=TYPED, scheduler=scheduler, feature_gates=gates)


def read_objects(
    manifests: Iterable[Mapping[str, Any]], *, admission: bool = False
) -> tuple[KubernetesObject, ...]:
    """Return the objects of manifests as they are written. Raises what :func:`load` raises."""
    return load_documents(manifests, expand=False, admission=admission, presumed=TYPED).objects


class _Loading(Intake):
    """The loading of one bundle into a Scenario: its documents, and the problems found so far."""

    def __init__(
        self,
        title: str,
        limits: Limits,
        *,
        expand: bool,
        admission: bool,
        watch: Watch = unwatched,
    ) -> None:
        super().__init__(Report(strict=admission, limit=limits.problems))
        self.title = title
        self.scheduler = ""  # overrides the settings'
        self.presumed = ""  # answers if nothing chooses
        self.only_v1_11 = False
        self.timed = False  # settings let time pass, from the start or by an operation
        self.gates: Mapping[str, bool] = {}
        self.controllers = True
        self.kueue: KueueSetup | None = None
        self.living = False  # controllers run even if there is nothing for them to do
        self.watch = watch
        self.limits = limits
        self.assembly = Assembly(self.report, limits, expand=expand, admission=admission, watch=watch)
        self.extensible = False  # the cluster is kept as it is before the first operation
        self.before_operations: _BeforeOperations | None = None
        self.errors: list[Problem] = []
        self.left: list[Problem] = []  # of documents that were left out before
        self.assumed: list[Problem] = []  # of what a dump lacks that controllers start from
        self.sources: dict[str | None, SourceText] = {}

    def run(self, bundle: Bundle) -> Scenario:
        """Read the bundle's manifests one by one, then assemble the cluster.

        Raises:
            BundleError: The bundle has errors.
        """
        self.errors += [format_problem(source, error) for source, error in bundle.errors]
        for source, warning in bundle.warnings:
            At(self.report, None, Entry({}, source=source)).warn(warning)
        for source in {id(one): one for one, _ in bundle.flags}.values():
            for text in flag_warnings(flag for one, flag in bundle.flags if one is source):
                At(self.report, None, Entry({}, source=source)).warn(text)
        for place, note in bundle.notes:
            At(self.report, None, place).warn(note)
        self.sources = {source.name: source for source in bundle.sources()}
        for entry in counted(bundle.entries, "checking", len(bundle.entries), self.watch):
            self.take(entry)
        for listed, kind in (
            (self.policies, "Policy"),
            (self.configurations, CONFIGURATION_KIND),
            (self.batches, BATCH_CONFIGURATION),
            (self.deschedulers, DESCHEDULER_POLICY),
        ):
            choose(listed, kind, self.report)
        for several, kind in (
            (self.policies, "Policy"),
            (self.configurations, CONFIGURATION_KIND),
            (self.batches, BATCH_CONFIGURATION),
            (self.scenarios, "Scenario"),
            (self.settings, SETTINGS_KIND),
        ):
            for entry in several[1:]:
                At(self.report, None, entry).child("kind").error(f"a second {kind}: a bundle has one at most")
        if self.policies and self.configurations:
            text = f"a {CONFIGURATION_KIND} and a Policy both configure the scheduler: keep one of them"
            At(self.report, None, self.configurations[0]).child("kind").error(text)
        settings = DEFAULT_SETTINGS
        for entry in self.settings[:1]:
            settings = read_settings(entry.value, At(self.report, None, entry))
        if self.scheduler:
            settings = replace(settings, scheduler=self.scheduler)
        if self.only_v1_11:
            settings = replace(settings, names_v1_11=True)
        if self.gates:
            given = At(self.report, None, Entry({}, SETTINGS_KIND)).child("featureGates")
            gates = read_gates({**dict(settings.feature_gates), **self.gates}, given)
            check_locked(gates or (), settings.scheduler, given)
            settings = replace(settings, feature_gates=gates or ())
        own = bool(self.policies or self.configurations)
        self.configurations += adopted(self.contained, settings, self.report, configured=own)
        configuration = Configuration(None, settings)
        for entry in (*self.policies[:1], *self.configurations[:1]):
            at = At(self.report, None, entry)
            configuration = checked(entry.value, settings, at)
            if configuration.policy is not None:
                # Without plugins from outside of kube-scheduler.
                entry.value = cast("dict[str, Any]", configuration.policy)
        batch = ""
        for entry in self.batches[:1]:
            batch = check_batch_configuration(entry.value, At(self.report, None, entry)) or ""
        if settings.descheduler is None and any(asks_for_pass(entry.value) for entry in self.scenarios):
            settings = with_passes(settings, self.deschedulers, self.contained, self.report)
        descheduler = self.descheduler(settings)
        errors, warnings = duplicate_findings(self.replaced, self.report)
        for finding, message in errors:
            finding.error(message)
        for finding, message in warnings:
            finding.warn(message)
        if self.errors or self.report.errors:
            self.check_further(settings)
        self.refuse_if_wrong()
        controllers = all(has_controllers(entry.value) for entry in self.scenarios)
        if not controllers:
            self.assembly.expand, self.assembly.recorded = False, True
        release = self.release(configuration)
        works = self.has_work(deschedules=descheduler is not None)
        lives = row_of(release).clock == "own" and (works or self.holds_pods(release))
        row = row_with_controllers(release) if lives else row_of(release)
        if descheduler is not None and not (row.is_timed and controllers):
            lack = (
                f"under {release}, which has no controllers: write scheduler: {GATED}, or time: virtual"
                if controllers
                else "on a recording: its operations say what became of the pods"
            )
            text = f"the descheduler has no effect {lack}"
            At(self.report, None, self.settings[0]).child("descheduler").warn(text)
            descheduler = None
        plane = descheduler is not None or (lives and controllers)
        if plane:
            self.take_dump(settings)
        crons = cron_jobs.taken(self.ignored, self.report) if plane else ()
        if plane and self.queues:
            from scheduler_core.scenario.kueue_objects import taken  # most bundles have no queues

            self.kueue = taken(self.ignored, self.namespaces, self.report)
        asked = (SUPPORT[release], *(support_beside(settings) if row.is_timed else ()))
        checks = tuple(one.check_objects for one in asked if one.check_objects is not None)
        if settings.feature_gates and not checks:
            for entry in self.settings[:1] or [Entry({}, SETTINGS_KIND)]:
                text = f"kube-scheduler {release} has no such feature gates here: write scheduler: {GATED}"
                At(self.report, None, entry).child("featureGates").warn(text)
        if settings.have_views and (lives or not row.is_timed):
            lack = (
                f"under {release}, which answers alone: write scheduler: {TIMED}"
                if lives
                else "without virtual time: add time: virtual"
            )
            At(self.report, None, self.settings[0]).child("schedulers").warn(
                f"schedulers and design have no effect {lack}"
            )
        for check in checks:
            check(self.decoded, chain(self.namespaces, *self.ignored.values()), self.report)
        self.refuse_if_wrong()
        self.assembly.timed = row.is_timed
        self.assembly.checks = checks
        self.assembly.world.daemons_pending = row.daemons_pending
        objects = self.assembly.build(self.decoded, self.before)
        self.refuse_if_wrong()
        self.write_down(self.assembly.changed)
        if self.assembly.admitting:
            check_references(objects, self.assembly.places, self.assembly.notices)
        queued = () if self.kueue is None else self.kueue.documents
        before = _BeforeOperations(
            self.assembly,
            {key_of(d.object): d.entry.value for d in self.decoded},
            self.policy,
            next((entry.value for entry in self.settings), None),
            settings,
            release,
            tuple(chain(self.namespaces, *self.ignored.values())),
            (*crons, *queued) if plane else None,
        )
        if self.extensible:
            self.before_operations = before.forked(Report())
        operations = before.read(self.scenarios[0]) if self.scenarios else ()
        self.refuse_if_wrong()
        later = (operation.configuration for operation in operations)
        everything = (configuration, *(one for one in later if one is not None))
        answers = self.extender_answers(everything, release)
        self.assembly.notices.flush()
        scenario = Scenario(
            title=self.title,
            documents=tuple(self.documents),
            objects=tuple(objects),
            operations=operations,
            policy=self.policy,
            settings=settings,
            configuration=configuration,
            warnings=tuple(self.warnings(objects, operations, bundle)),
            summary=dict(self.summary),
            controllers=controllers,
            most_pods=self.limits.pods,
            schedulers={BATCH_SCHEDULER: batch} if batch else {},
            unhonored=self.unhonored(objects, operations),
            kubelets=self.kubelets,
            of_nodes=release_of_nodes(self.kubelet_versions),
            presumed=self.presumed,
            asks_batch=self.asks_batch,
            custom=self.named if self.timed or settings.schedulers else frozenset(),
            answers=answers,
            descheduler=descheduler,
            cron_jobs=crons,
            kueue=self.kueue,
            lives=lives,
        )
        return replace(scenario, warnings=scenario.warned())

    def extender_answers(self, configurations: Iterable[Configuration], release: str) -> tuple[Answers, ...]:
        """Read the answers of extenders, and report what they and the configurations lack of each other."""
        places = [At(self.report, None, entry) for entry in self.answers]
        configurations = tuple(configurations)
        if configurations[0].is_for_peers and row_of(configurations[0].read_by).asks_beside:
            release = configurations[0].read_by
        read = [read_answers(entry.value, at) for entry, at in zip(self.answers, places)]
        answers = tuple(chain.from_iterable(read))
        self.refuse_if_wrong()
        asks = release in ASKING
        if not asks:
            for at in places:
                at.child("kind").warn(f"{release} is simulated without extenders: the answers have no effect")
        reads = row_of(release).reads == CONFIGURATION_KIND
        for entry in (*self.policies[:1], *(self.configurations[:1] if asks and reads else ())):
            warn_of_configuration(entry.value, answers, At(self.report, None, entry), release)
        initial, *later = (one.extenders for one in configurations)
        brought = [extender for found in later for extender in found if extender not in initial]
        if asks:
            for at, found in zip(places, read):
                warn_of_strangers((*initial, *brought), found, at.child("extenders"))
            for entry in self.scenarios[:1]:
                warn_of_later(brought, answers, At(self.report, None, entry))
        return answers

    def unhonored(
        self, objects: list[KubernetesObject], operations: tuple[Operation, ...]
    ) -> tuple[Unhonored, ...]:
        """Return the warnings for the fields and kinds in use that other clusters may honor."""
        ignored = [*chain.from_iterable(self.ignored.values()), *self.assembly.ignored]
        later = (operation.object for operation in operations if operation.object is not None)
        return found_in(self.report, ignored, chain(objects, later))

    def extended(self, scenario: Scenario, documents: Sequence[Document]) -> Scenario:
        """Return the scenario with another history of the same cluster. Raises BundleError."""
        assert self.before_operations is not None
        report = Report(strict=self.report.strict, limit=self.limits.problems)
        before = self.before_operations.forked(report)
        number, history = next(
            (number, one) for number, one in enumerate(documents, 1) if one.get("kind") == SCENARIO_KIND
        )
        operations = before.read(_entry_of(history, number))
        before.assembly.notices.flush()
        if report.errors:
            raise BundleError(sorted(problems_of(report.errors), key=Problem.place))
        later = [one.object for one in operations if one.object is not None]
        known = {one.problem.unhonored for one in scenario.unhonored}
        found = found_in(report, before.assembly.ignored, later)
        warnings = problems_of([*unknown_findings(report), *report.warnings])
        return replace(
            scenario,
            documents=tuple(documents),
            operations=operations,
            summary={**(scenario.summary or {}), SCENARIO_KIND: 1},
            unhonored=(*scenario.unhonored, *(one for one in found if one.problem.unhonored not in known)),
            warnings=tuple(sorted({*scenario.warnings, *warnings}, key=Problem.place)),
        )

    def release(self, configuration: Configuration) -> str:
        """Return the release that answers, from the start or by an operation on the configuration."""
        later = [one for entry in self.scenarios[:1] for one in releases_written(entry.value)]
        self.timed = configuration.settings.is_virtual or PASSING_TIME in later
        chosen = chosen_release(
            [configuration.release, *later],
            self.kubelets,
            only_v1_11=configuration.settings.only_v1_11,
            timed=self.timed,
            batch=self.asks_batch,
        )
        return chosen or in_time(self.presumed or default_release(), timed=self.timed)

    @cached_property
    def asks_batch(self) -> bool:
        """Whether time passes and a custom scheduler runs: pods name it, or kube-batch has a file."""
        return self.timed and (bool(self.batches) or bool(self.named))

    @cached_property
    def named(self) -> frozenset[str]:
        """The custom schedulers that pods name."""
        return schedulers_named(self.documents, {BATCH_SCHEDULER, FIRMAMENT, *SCHEDULERS})

    def take_dump(self, settings: Settings) -> None:
        """Let controllers start from what a dump has, and warn of what they have to assume."""
        objects = dumped_objects(self.documents, said=settings.dump is not None)
        if objects is None:
            return
        self.assembly.expand = False
        self.ignored.pop("ControllerRevision", None)
        if settings.dump is None or not settings.dump.complete:
            self.assumed = list(assumptions(objects))

    def holds_pods(self, release: str) -> bool:
        """Return whether a plugin makes pods wait, from the start or by an operation: then time passes."""
        written = [entry.value for entry in (*self.configurations[:1], *self.scenarios[:1])]
        return names_plugin(written, SUPPORT[release].holding)

    def has_work(self, *, deschedules: bool) -> bool:
        """Return whether controllers run under a release that runs without them otherwise."""
        if not self.controllers:
            return False
        if self.timed or self.assembly.recorded:
            return self.timed
        return self.living or deschedules or self.queues or has_work(self.documents)

    @cached_property
    def queues(self) -> bool:
        """Whether Kueue has something to give."""
        return has_queues(chain.from_iterable(self.ignored.values()))

    def check_further(self, settings: Settings) -> None:
        """Find what is wrong in single documents beside the errors that keep the cluster from being read."""
        wrong = {id(at.root) for at, _ in self.report.errors}
        sound = [one for one in self.decoded if id(one.entry) not in wrong]
        unread = [one for one in chain(*self.ignored.values()) if id(one) not in wrong]
        row = SUPPORT.get(settings.scheduler or self.presumed or default_release())
        if row is not None and row.check_objects is not None:
            row.check_objects(sound, unread, self.report)
        self.assembly.check_workloads(sound)

    def descheduler(self, settings: Settings) -> DeschedulerConfiguration | None:
        """Check the policy that the settings run, which is then no ignored document."""
        if settings.descheduler is not None:
            self.ignored.pop(DESCHEDULER_POLICY, None)
        runs = settings.descheduler is not None
        policies = policies_of(self.deschedulers, self.contained, self.report, runs=runs)
        at = At(self.report, None, self.settings[0] if self.settings else Entry({}, SETTINGS_KIND))
        return read_descheduler(settings.descheduler, policies, self.decoded, self.namespaces, at)

    def refuse_if_wrong(self) -> None:
        """Raise BundleError with all errors, if there are any."""
        problems = [*self.errors, *problems_of(self.report.errors)]
        if not problems:
            return
        problems = sorted(blame_templates(problems, self.sources), key=Problem.place)
        if self.report.unlisted:
            problems.append(Problem(f"and {self.report.unlisted:,} more problems of the same input"))
        raise BundleError(problems, self.noteworthy(checked=bool(self.assembly.checks)))

    def warnings(
        self, objects: list[KubernetesObject], operations: tuple[Operation, ...], bundle: Bundle
    ) -> list[Problem]:
        """Return the warnings about a valid bundle."""
        out = sorted([*self.left, *self.noteworthy(checked=bool(self.assembly.checks))], key=Problem.place)
        given = [operation.object for operation in operations if operation.object is not None]
        if not any(key[0] == "Node" for key in map(key_of, chain(objects, given))) and bundle.entries:
            text = (
                "it contains no Node, so no pod can be scheduled: add the output of `kubectl get nodes "
                "-o yaml`"
            )
            out.append(Problem(text))
        unread, held = chain.from_iterable(self.ignored.values()), self.kueue is not None
        out += waits_for_kueue(self.decoded, unread, self.report, is_simulated=held)
        if shares_devices(chain(objects, given)):
            out.append(ON_ONE_GPU)
        if not self.assembly.recorded:  # else its operations create the pods
            out += missing_pods(self.documents)
        out += self.assumed
        if self.report.unlisted:
            out.append(Problem(f"and {self.report.unlisted:,} more warnings"))
        return out


class _BeforeOperations(NamedTuple):
    """A cluster and what else its operations are read with."""

    assembly: Assembly
    sources: dict[Key, Any]
    policy: Document | None
    written: Any
    settings: Settings
    release: str
    unread: Sequence[Entry]
    untyped: Sequence[Document] | None

    def forked(self, report: Report) -> _BeforeOperations:
        """Return a copy of the cluster, about which is reported elsewhere."""
        return self._replace(assembly=self.assembly.forked(report))

    def read(self, history: Entry) -> tuple[Operation, ...]:
        """Resolve the operations of a Scenario document; they change the cluster."""
        configuration = Reconfiguration(self.policy, self.written, self.settings, self.release)
        return read_operations(history, self.assembly, self.sources, configuration, self.unread, self.untyped)
