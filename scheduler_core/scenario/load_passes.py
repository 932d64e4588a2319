"""The passes that make a scenario of a bundle, in order: each adds to the state, or refuses it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, cast

from msgspec.structs import replace

from scheduler_core.formats.bundle import Entry
from scheduler_core.formats.duplicates import duplicate_findings
from scheduler_core.kubernetes.keys import key_of
from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.readers import At, Report
from scheduler_core.progress import counted
from scheduler_core.scenario import cron_jobs
from scheduler_core.scenario.chosen_releases import has_controllers, releases_written
from scheduler_core.scenario.configuration_choice import adopted, choose, policies_of, with_passes
from scheduler_core.scenario.controller_work import asks_for_pass
from scheduler_core.scenario.descheduler import read_descheduler
from scheduler_core.scenario.dump import missing_pods
from scheduler_core.scenario.extender_answers import (
    ASKING,
    warn_of_configuration,
    warn_of_later,
    warn_of_strangers,
)
from scheduler_core.scenario.kueue import waits_for_kueue
from scheduler_core.scenario.load_state import LoadState
from scheduler_core.scenario.operation_reader import OperationReader
from scheduler_core.scenario.references import check_references
from scheduler_core.scenario.running_dump import assumptions, dumped_objects
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.scenario.shared_gpus import ON_ONE_GPU, shares_devices
from scheduler_core.scenario.unhonored_fields import Unhonored, found_in
from scheduler_core.schedulers.extenders.answers import read_answers
from scheduler_core.schedulers.firmament.flags import flag_warnings
from scheduler_core.schedulers.kube_batch.document import (
    BATCH_CONFIGURATION,
    BATCH_SCHEDULER,
    check_batch_configuration,
)
from scheduler_core.schedulers.table import SUPPORT, checked, support_beside
from scheduler_core.settings.descheduler import DESCHEDULER_POLICY
from scheduler_core.settings.feature_gates import check_locked, read_gates
from scheduler_core.settings.release import (
    CONFIGURATION_KIND,
    GATED,
    PASSING_TIME,
    TIMED,
    chosen_release,
    in_time,
    release_of_nodes,
    row_of,
    row_with_controllers,
)
from scheduler_core.settings.settings import SETTINGS_KIND, read_settings

# ---- documents


def report_files(state: LoadState) -> None:
    """Report what was found in the files themselves: of their formats, and flags of command lines."""
    bundle = state.bundle
    for source, warning in bundle.warnings:
        At(state.report, None, Entry({}, source=source)).warn(warning)
    for source in {id(one): one for one, _ in bundle.flags}.values():
        for text in flag_warnings(flag for one, flag in bundle.flags if one is source):
            At(state.report, None, Entry({}, source=source)).warn(text)
    for place, note in bundle.notes:
        At(state.report, None, place).warn(note)


def take_entries(state: LoadState) -> None:
    """Take each document as what it is."""
    entries = state.bundle.entries
    for entry in counted(entries, "checking", len(entries), state.watch):
        state.take(entry)


def choose_configurations(state: LoadState) -> None:
    """Choose one configuration of each kind; a second one, or one for another release, is an error."""
    configuring = (
        (state.policies, "Policy"),
        (state.configurations, CONFIGURATION_KIND),
        (state.batches, BATCH_CONFIGURATION),
    )
    for listed, kind in (*configuring, (state.deschedulers, DESCHEDULER_POLICY)):
        choose(listed, kind, state.report)
    for several, kind in (*configuring, (state.scenarios, "Scenario"), (state.settings, SETTINGS_KIND)):
        for entry in several[1:]:
            At(state.report, None, entry).child("kind").error(f"a second {kind}: a bundle has one at most")
    if state.policies and state.configurations:
        text = f"a {CONFIGURATION_KIND} and a Policy both configure the scheduler: keep one of them"
        At(state.report, None, state.configurations[0]).child("kind").error(text)


# ---- configuration


def read_chosen_settings(state: LoadState) -> None:
    """Read the settings, over which the options go."""
    options, settings = state.options, state.chosen
    for entry in state.settings[:1]:
        settings = read_settings(entry.value, At(state.report, None, entry))
    if options["scheduler"]:
        settings = replace(settings, scheduler=options["scheduler"])
    if options["only_v1_11"]:
        settings = replace(settings, names_v1_11=True)
    if options["feature_gates"]:
        given = At(state.report, None, Entry({}, SETTINGS_KIND)).child("featureGates")
        gates = read_gates({**dict(settings.feature_gates), **options["feature_gates"]}, given)
        check_locked(gates or (), settings.scheduler, given)
        settings = replace(settings, feature_gates=gates or ())
    state.chosen = settings


def read_configuration(state: LoadState) -> None:
    """Read the scheduler's configuration, or the one in a ConfigMap where a bundle has no other."""
    own = bool(state.policies or state.configurations)
    state.configurations += adopted(state.contained, state.chosen, state.report, configured=own)
    state.configuration = replace(state.configuration, settings=state.chosen)
    for entry in (*state.policies[:1], *state.configurations[:1]):
        state.configuration = checked(entry.value, state.chosen, At(state.report, None, entry))
        if state.configuration.policy is not None:
            # Without plugins from outside of kube-scheduler.
            entry.value = cast("dict[str, Any]", state.configuration.policy)


def read_batch_configuration(state: LoadState) -> None:
    """Check the configuration of kube-batch."""
    for entry in state.batches[:1]:
        state.batch = check_batch_configuration(entry.value, At(state.report, None, entry)) or ""


def read_descheduler_policy(state: LoadState) -> None:
    """Check the policy that the settings or an operation run, which is then no ignored document."""
    settings = state.chosen
    if settings.descheduler is None and any(asks_for_pass(entry.value) for entry in state.scenarios):
        settings = with_passes(settings, state.deschedulers, state.contained, state.report)
    state.chosen = settings
    runs = settings.descheduler is not None
    if runs:
        state.ignored.pop(DESCHEDULER_POLICY, None)
    policies = policies_of(state.deschedulers, state.contained, state.report, runs=runs)
    at = At(state.report, None, _settings_entry(state))
    state.descheduler = read_descheduler(settings.descheduler, policies, state.decoded, state.namespaces, at)


def report_duplicates(state: LoadState) -> None:
    """Report objects that a later document replaced."""
    errors, warnings = duplicate_findings(state.replaced, state.report)
    for finding, message in errors:
        finding.error(message)
    for finding, message in warnings:
        finding.warn(message)


def check_further(state: LoadState) -> None:
    """Find what else is wrong in single documents, where errors keep the cluster from being read."""
    if not (state.errors or state.report.errors):
        return
    wrong = {id(at.root) for at, _ in state.report.errors}
    sound = [one for one in state.decoded if id(one.entry) not in wrong]
    unread = [one for one in chain(*state.ignored.values()) if id(one) not in wrong]
    row = SUPPORT.get(state.chosen.scheduler or state.release_presumed())
    if row is not None and row.check_objects is not None:
        row.check_objects(sound, unread, state.report)
    state.assembly.check_workloads(sound)


def refuse(state: LoadState) -> None:
    """Raise BundleError with all errors, if there are any."""
    state.refuse_if_wrong()


# ---- who answers, and what runs beside it


def choose_release(state: LoadState) -> None:
    """Choose the release that answers, from the start or by an operation on the configuration."""
    settings = state.configuration.settings
    state.with_controllers = all(has_controllers(entry.value) for entry in state.scenarios)
    if not state.with_controllers:
        state.assembly.expand, state.assembly.recorded = False, True
    later = [one for entry in state.scenarios[:1] for one in releases_written(entry.value)]
    state.timed = settings.is_virtual or PASSING_TIME in later
    chosen = chosen_release(
        [state.configuration.release, *later],
        state.kubelets,
        only_v1_11=settings.only_v1_11,
        timed=state.timed,
        batch=state.asks_batch,
    )
    state.release = chosen or in_time(state.release_presumed(), timed=state.timed)


def choose_clock(state: LoadState) -> None:
    """Let time pass where controllers or the descheduler have work, or where a plugin holds pods."""
    release, works = state.release, state.has_work()
    state.lives = row_of(release).clock == "own" and (works or state.holds_pods())
    state.row = row_with_controllers(release) if state.lives else row_of(release)
    if state.descheduler is not None and not (state.row.is_timed and state.with_controllers):
        lack = (
            f"under {release}, which has no controllers: write scheduler: {GATED}, or time: virtual"
            if state.with_controllers
            else "on a recording: its operations say what became of the pods"
        )
        text = f"the descheduler has no effect {lack}"
        At(state.report, None, state.settings[0]).child("descheduler").warn(text)
        state.descheduler = None
    state.plane = state.descheduler is not None or (state.lives and state.with_controllers)


def take_dump(state: LoadState) -> None:
    """Let controllers start from what a dump has, and note what they have to assume."""
    settings = state.chosen
    objects = dumped_objects(state.documents, said=settings.dump is not None) if state.plane else None
    if objects is None:
        return
    state.assembly.expand = False
    state.ignored.pop("ControllerRevision", None)
    if settings.dump is None or not settings.dump.complete:
        state.assumed = tuple(assumptions(objects))


def take_cron_jobs(state: LoadState) -> None:
    """Take the CronJobs where controllers run."""
    state.crons = cron_jobs.taken(state.ignored, state.report) if state.plane else ()


def take_queues(state: LoadState) -> None:
    """Take Kueue's objects where controllers run."""
    if state.plane and state.queues:
        from scheduler_core.scenario.kueue_objects import taken  # most bundles have no queues

        state.kueue = taken(state.ignored, state.namespaces, state.report)


def report_settings_without_effect(state: LoadState) -> None:
    """Warn of feature gates and further schedulers that the release does not have."""
    settings, release = state.chosen, state.release
    if settings.feature_gates and not _checks(state):
        text = f"kube-scheduler {release} has no such feature gates here: write scheduler: {GATED}"
        At(state.report, None, _settings_entry(state)).child("featureGates").warn(text)
    if settings.have_views and (state.lives or not state.row.is_timed):
        lack = (
            f"under {release}, which answers alone: write scheduler: {TIMED}"
            if state.lives
            else "without virtual time: add time: virtual"
        )
        text = f"schedulers and design have no effect {lack}"
        At(state.report, None, state.settings[0]).child("schedulers").warn(text)


def check_objects(state: LoadState) -> None:
    """Check what the schedulers that run read beside the typed objects."""
    for check in _checks(state):
        check(state.decoded, _unread(state), state.report)


# ---- the cluster


def assemble(state: LoadState) -> None:
    """Make the initial cluster: admission, and pods of workloads."""
    assembly, row = state.assembly, state.row
    assembly.timed = row.is_timed
    assembly.checks = _checks(state)
    assembly.world.daemons_pending = row.daemons_pending
    state.objects = assembly.build(state.decoded, state.before)


def check_assembled(state: LoadState) -> None:
    """Write the controllers' changes into the documents, and check what refers to other objects."""
    state.write_down(state.assembly.changed)
    if state.assembly.admitting:
        check_references(state.objects, state.assembly.places, state.assembly.notices)


def read_history(state: LoadState) -> None:
    """Resolve the operations, which change the cluster."""
    queued = () if state.kueue is None else state.kueue.documents
    reader = OperationReader(
        state.assembly,
        {key_of(d.object): d.entry.value for d in state.decoded},
        state.policy,
        next((entry.value for entry in state.settings), None),
        state.chosen,
        state.release,
        tuple(_unread(state)),
        (*state.crons, *queued) if state.plane else None,
    )
    if state.extensible:
        state.before_operations = reader.forked(Report(strict=state.report.strict, limit=state.report.limit))
    state.operations = reader.read(state.scenarios[0]) if state.scenarios else ()


def read_extender_answers(state: LoadState) -> None:
    """Read the answers of extenders, and report what they and the configurations lack of each other."""
    later = (operation.configuration for operation in state.operations)
    configurations = (state.configuration, *(one for one in later if one is not None))
    release = state.release
    if configurations[0].is_for_peers and row_of(configurations[0].read_by).asks_beside:
        release = configurations[0].read_by
    places = [At(state.report, None, entry) for entry in state.answers]
    read = [read_answers(entry.value, at) for entry, at in zip(state.answers, places)]
    answers = state.answers_read = tuple(chain.from_iterable(read))
    state.refuse_if_wrong()
    asks = release in ASKING
    if not asks:
        for at in places:
            at.child("kind").warn(f"{release} is simulated without extenders: the answers have no effect")
    reads = row_of(release).reads == CONFIGURATION_KIND
    for entry in (*state.policies[:1], *(state.configurations[:1] if asks and reads else ())):
        warn_of_configuration(entry.value, answers, At(state.report, None, entry), release)
    initial, *others = (one.extenders for one in configurations)
    brought = [extender for found in others for extender in found if extender not in initial]
    if asks:
        for at, found in zip(places, read):
            warn_of_strangers((*initial, *brought), found, at.child("extenders"))
        for entry in state.scenarios[:1]:
            warn_of_later(brought, answers, At(state.report, None, entry))


def finish(state: LoadState) -> None:
    """Make the scenario."""
    state.assembly.notices.flush()
    scenario = Scenario(
        title=state.options["title"],
        documents=tuple(state.documents),
        objects=tuple(state.objects),
        operations=state.operations,
        policy=state.policy,
        settings=state.chosen,
        configuration=state.configuration,
        warnings=tuple(_warnings(state)),
        summary=dict(state.summary),
        controllers=state.with_controllers,
        most_pods=state.limits.pods,
        schedulers={BATCH_SCHEDULER: state.batch} if state.batch else {},
        unhonored=_unhonored(state),
        kubelets=state.kubelets,
        of_nodes=release_of_nodes(state.kubelet_versions),
        presumed=state.options["presumed"],
        asks_batch=state.asks_batch,
        custom=state.named if state.timed or state.chosen.schedulers else frozenset(),
        answers=state.answers_read,
        descheduler=state.descheduler,
        cron_jobs=state.crons,
        kueue=state.kueue,
        lives=state.lives,
    )
    state.scenario = replace(scenario, warnings=scenario.warned())


PASSES: tuple[Callable[[LoadState], None], ...] = (
    report_files,
    take_entries,
    choose_configurations,
    read_chosen_settings,
    read_configuration,
    read_batch_configuration,
    read_descheduler_policy,
    report_duplicates,
    check_further,
    refuse,
    choose_release,
    choose_clock,
    take_dump,
    take_cron_jobs,
    take_queues,
    report_settings_without_effect,
    check_objects,
    refuse,
    assemble,
    refuse,
    check_assembled,
    read_history,
    refuse,
    read_extender_answers,
    finish,
)


def scenario_of(state: LoadState) -> Scenario:
    """Return what the passes make of a bundle.

    Raises:
        BundleError: The bundle has errors.
    """
    for each in PASSES:
        each(state)
    assert state.scenario is not None
    return state.scenario


# ---- what several passes ask


def _settings_entry(state: LoadState) -> Entry:
    return state.settings[0] if state.settings else Entry({}, SETTINGS_KIND)


def _unread(state: LoadState) -> Iterator[Entry]:
    return chain(state.namespaces, *state.ignored.values())


def _checks(state: LoadState) -> tuple[Any, ...]:
    asked = (SUPPORT[state.release], *(support_beside(state.chosen) if state.row.is_timed else ()))
    return tuple(one.check_objects for one in asked if one.check_objects is not None)


def _given(state: LoadState) -> Iterable[KubernetesObject]:
    """Yield the objects that operations bring."""
    return (operation.object for operation in state.operations if operation.object is not None)


def _unhonored(state: LoadState) -> tuple[Unhonored, ...]:
    """Return the warnings for the fields and kinds in use that other clusters may honor."""
    ignored = [*chain.from_iterable(state.ignored.values()), *state.assembly.ignored]
    return found_in(state.report, ignored, chain(state.objects, _given(state)))


def _warnings(state: LoadState) -> Sequence[Problem]:
    """Return the warnings about a valid bundle."""
    found = [*state.left, *state.noteworthy(checked=bool(state.assembly.checks))]
    out = sorted(found, key=Problem.place)
    objects = [*state.objects, *_given(state)]
    if not any(key[0] == "Node" for key in map(key_of, objects)) and state.bundle.entries:
        out.append(Problem(NO_NODES))
    unread, held = chain.from_iterable(state.ignored.values()), state.kueue is not None
    out += waits_for_kueue(state.decoded, unread, state.report, is_simulated=held)
    if shares_devices(objects):
        out.append(ON_ONE_GPU)
    if not state.assembly.recorded:  # else its operations create the pods
        out += missing_pods(state.documents)
    out += state.assumed
    if state.report.unlisted:
        out.append(Problem(f"and {state.report.unlisted:,} more warnings"))
    return out


NO_NODES = "it contains no Node, so no pod can be scheduled: add the output of `kubectl get nodes -o yaml`"
